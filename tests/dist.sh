#!/bin/bash
# make dist: the archive has what git has, and all builds from it where there is no git
. tests/tap
unset PETSC_OPTIONS

is_checkout || skip 'this is no checkout of git'
version=$(sed -n 's/^VERSION *:= *//p' conf/variables)
archive=build/petscspmv-$version.tar.xz
sources=$tmp/petscspmv-$version
check makes make --no-print-directory dist
check unpacks tar -xJf "$archive" -C "$tmp"
check has_all diff <(git ls-tree -r --name-only HEAD | sort) <(cd "$sources" && find . ! -type d | cut -c3- | sort)

# Whoever asks for git there is seen
mkdir "$tmp/bin"
printf '#!/bin/sh\necho "git $*" >>"%s/asked"\nexit 127\n' "$tmp" >"$tmp/bin/git"
chmod +x "$tmp/bin/git"
there() { PATH="$tmp/bin:$PATH" make -C "$sources" --no-print-directory "$@"; }
check plans there -n lib
[ -z "$ALL" ] || {
  check builds there all
  check installs there install PREFIX="$tmp/prefix"
  check tests there run-tests search=init_twice_1
}
check without_git [ ! -e "$tmp/asked" ]
check says_no_checkout fails 'is no checkout of git' there dist
