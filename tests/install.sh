#!/bin/bash
# make install as users and as makers of packages call it: what is where, programs that are compiled through pkg-config
# and through conf/petscspmv, make uninstall, and what plain make says at its end.
. tests/tap
unset PETSC_OPTIONS

quiet_make() { make --no-print-directory "$@"; }
files() { (cd "$1" && find . -type f | sort); }

prefix=$tmp/prefix
check install quiet_make install PREFIX="$prefix"
has_files() {
  local file
  for file in lib/{libpetscspmv.so,pkgconfig/petscspmv.pc,petscspmv/conf/petscspmv} include/petscspmv.h \
    share/doc/petscspmv/{README.md,LICENSE,docs/options.md} share/man/man3/{MATSPMV,MatSpmvOptions}.3; do
    [ -f "$prefix/$file" ] || { echo "$file is missing"; return 1; }
  done
}
check files has_files

# Debug data: gone unless STRIP is told to do nothing
debug_data() { readelf -S "$1/lib/libpetscspmv.so" | grep -c '\.symtab'; }
check stripped [ "$(debug_data "$prefix")" = 0 ]
check unstripped_install quiet_make install-lib PREFIX="$tmp/unstripped" STRIP=:
check unstripped cmp lib/libpetscspmv.so "$tmp/unstripped/lib/libpetscspmv.so"

# With DESTDIR: the same files, which name the PREFIX and neither DESTDIR nor this folder
check destdir_install quiet_make install DESTDIR="$tmp/stage" PREFIX=/opt/there
same_files() { diff <(files "$prefix") <(files "$tmp/stage/opt/there") && [ "$(ls "$tmp/stage")" = opt ]; }
check destdir_files same_files
paths=("$tmp"/stage/opt/there/lib/{pkgconfig/petscspmv.pc,petscspmv/conf/petscspmv})
names() { [ "$(grep -l /opt/there "${paths[@]}" | wc -l)" = 2 ] && ! grep -e "$tmp" -e "$PWD" "${paths[@]}"; }
check destdir_names names

# Where a system has other folders
folders=(DESTDIR="$tmp/folders" PREFIX=/usr LIBDIR=/usr/lib64 INCLUDEDIR=/usr/include/petscspmv DOCDIR=/usr/doc MANDIR=/usr/man)
check folders_install quiet_make install "${folders[@]}"
check folders_conf grep -x 'PETSCSPMV_LIBDIR .*= /usr/lib64' "$tmp/folders/usr/lib64/petscspmv/conf/petscspmv"
check folders_pkgconfig grep -x 'includedir=/usr/include/petscspmv' "$tmp/folders/usr/lib64/pkgconfig/petscspmv.pc"
check folders_uninstall quiet_make uninstall "${folders[@]}"
check folders_nothing_left [ -z "$(files "$tmp/folders")" ]

cat >"$tmp/app.c" <<'END'
#ifdef LINKED
  #include <petscspmv.h>
#else
  #include <petscmat.h>
#endif
int main(int argc, char **argv)
{
  Mat     A;
  MatType type;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
#ifdef LINKED
  PetscCall(SpmvInitializePackage());
#endif
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, 2, 2, PETSC_DECIDE, PETSC_DECIDE));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "type %s\n", type));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
END
cat >"$tmp/user.mk" <<'END'
include $(conf)
.PHONY: loads links
loads:
	$(CC) $(PETSC_CC_INCLUDES) app.c -o loads $(PETSC_LINK)
	$(MPIEXEC) -n 1 ./loads $(PETSCSPMV_OPTIONS) -mat_type bccoo
links:
	$(CC) -DLINKED $(PETSC_CC_INCLUDES) $(PETSCSPMV_INCLUDE) app.c -o links $(PETSCSPMV_LINK) $(PETSC_LINK)
	$(MPIEXEC) -n 1 ./links -mat_type bccoo
END
says_type() { tee /dev/stderr | grep -x 'type seqaijbccoo'; }
by_makefile() { make -C "$tmp" -f user.mk "$1" conf="$2" | says_type; }
check makefile_loads by_makefile loads "$prefix/lib/petscspmv/conf/petscspmv"
check makefile_links by_makefile links "$prefix/lib/petscspmv/conf/petscspmv"
check makefile_of_sources_loads by_makefile loads "$PWD/conf/petscspmv"
check makefile_of_sources_links by_makefile links "$PWD/conf/petscspmv"
if command -v pkg-config >/dev/null; then
  ours() { PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@" petscspmv; }
  pkg_config_links() {
    $CC -DLINKED $PETSC_CC_INCLUDES "$tmp/app.c" -o "$tmp/linked" $(ours --cflags --libs) $PETSC_LINK || return
    $MPIEXEC -n 1 "$tmp/linked" -mat_type bccoo | says_type
  }
  pkg_config_loads() { $MPIEXEC -n 1 "$tmp/loads" $(ours --variable=options) -mat_type bccoo | says_type; }
  check pkg_config_links pkg_config_links
  check pkg_config_loads pkg_config_loads
  check pkg_config_version [ "$(ours --modversion)" = "$(sed -n 's/^VERSION *:= *//p' conf/variables)" ]
else echo 'ok install_pkg_config # SKIP pkg-config is not installed'; fi

check uninstall quiet_make uninstall PREFIX="$prefix"
nothing_left() { ! find "$prefix" -type f | grep . && ! find "$prefix" -name '*petscspmv*' | grep .; }
check nothing_left nothing_left
mkdir -p "$tmp/shared/share/doc/petscspmv" && : >"$tmp/shared/share/doc/petscspmv/mine"
check uninstall_twice quiet_make uninstall PREFIX="$tmp/shared"
check uninstall_leaves_others [ -f "$tmp/shared/share/doc/petscspmv/mine" ]

# Plain make ends with what to type; called from another make it does not
line="Type: ./app -dll_append $PWD/lib/libpetscspmv.so -mat_type spmv"
says() { quiet_make | tee /dev/stderr | tail -n 1 | grep -x "$line"; }
MAKELEVEL=0 check make_says_what_to_type says
MAKELEVEL=1 check make_says_nothing_to_make [ -z "$(MAKELEVEL=1 quiet_make | grep Type)" ]
