#!/bin/bash
# The Debian packages: made, without complaint from lintian, installed, PETSc's tutorial ex2 run with each library,
# removed. It changes the system for that time, so root must run it, where no such package is installed yet.
. tests/tap
unset PETSC_OPTIONS

command -v apt-get >/dev/null || skip 'this is no Debian'
[ "$(id -u)" = 0 ] || skip 'only root may install packages'
case $PETSC_DIR in /usr/lib/petsc*) ;; *) skip "the PETSc in $PETSC_DIR is not Debian's" ;; esac
installed=$(dpkg-query -W -f '${Package} ${Status}\n' '*petscspmv*' 2>/dev/null | sed -n 's/ install ok installed$//p')
[ -z "$installed" ] || skip "installed already: $(echo $installed)"
is_checkout || skip 'this is no checkout of git'

apt() { DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"; }
check makes_and_lintian make --no-print-directory deb
packages=(build/deb/*.deb)
names=($(for file in "${packages[@]}"; do dpkg-deb -f "$file" Package; done))
libraries=($(printf '%s\n' "${names[@]}" | grep '^lib' | grep -v dbgsym))

check installs apt install --no-install-recommends "${packages[@]/#/./}"
files=$(dpkg -L "${names[@]}" 2>/dev/null | while read -r file; do [ -d "$file" ] || echo "$file"; done)
for library in "${libraries[@]}"; do
  path=$(dpkg -L "$library" | grep '/libpetscspmv\.so$') petsc=${path%/lib/libpetscspmv.so}
  ex2() { # compiled for this PETSc; the type of its matrix is in what -ksp_view prints
    local source=$petsc/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c link
    link=$(basename "$(ls "$petsc"/lib/libpetsc*.so | grep -v spmv)" .so)
    mpicc -w -I"$petsc/include" "$source" -o "$tmp/ex2" -L"$petsc/lib" -l"${link#lib}" -lm || return
    "$tmp/ex2" -dll_append '${PETSC_LIB_DIR}/libpetscspmv.so' -mat_type spmv -ksp_view >"$tmp/ex2.out" 2>&1
    cat "$tmp/ex2.out" && grep -q 'type: seqaijspmv' "$tmp/ex2.out"
  }
  check "ex2_$library" ex2
done
check pkg_config [ -e "$(pkg-config --variable=library petscspmv)" ]
check header [ -e /usr/include/petscspmv.h ]
makefile() { printf 'include /usr/share/petscspmv/conf/petscspmv\nall: ; ls $(PETSCSPMV_LIB)\n' | make -f -; }
check makefile makefile

left() { for file in $files; do [ ! -e "$file" ] || { echo "$file is left"; return 1; }; done; }
check removes apt remove "${names[@]}"
check remove_leaves_nothing left
check installs_again apt install --no-install-recommends "${packages[@]/#/./}"
check purges apt purge "${names[@]}"
check purge_leaves_nothing left
