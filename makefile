# petscspmv: make help lists what can be asked for. GNU make, no configure step:
#   conf/variables  which PETSc, which compiler, which flags
#   conf/rules      how sources become lib/libpetscspmv.so
#   conf/test       how the tests run
#   conf/suites     longer tests: PETSc's and SLEPc's own, every PETSc, fuzzers, faults, random sequences
#   conf/bits       whether two libraries give the same bits
#   conf/spmvbench  the measuring tool
#   conf/solvebench whole runs of programs that exist
#   conf/tune       caches and rates of this machine, and how good the tuner's choices are
#   conf/install    make install and make uninstall; docs/installing.md has the other ways
#   conf/dist       make dist and make deb
#   conf/traffic    what products on devices would ask of a GPU's memory
#   conf/gpu        an archive of the device tests for a machine with a GPU and nothing else
.DEFAULT_GOAL := all

include conf/variables
include conf/rules
include conf/test
include conf/suites
include conf/bits
include conf/spmvbench
include conf/solvebench
include conf/tune
include conf/traffic
include conf/gpu
include conf/install
include conf/dist

.PHONY: all lib quickstart run-quickstart test test-all examples docs docs/options.md clean format help

# As many commands at a time as there are processors, unless make was told
jobs = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1))

# What plain make does. Another makefile that calls us wants no advice
all:
	@$(MAKE) $(jobs) lib
	@[ '$(MAKELEVEL)' != 0 ] || printf '%s\n' 'Built $(CURDIR)/lib/libpetscspmv.so for PETSc $(petsc_dotted) in $(petsc_root)' \
	  'Type: ./app -dll_append $(CURDIR)/lib/libpetscspmv.so -mat_type spmv'

lib: lib/libpetscspmv.so

# Packages come first and the work is done by a second make, because PETSc can
# only be looked for once it is installed.
quickstart:
	@conf/packages quickstart
	@$(MAKE) $(jobs) lib
	@$(MAKE) run-quickstart

run-quickstart: lib
	@$(PYTHON) examples/quickstart --library $(CURDIR)/lib/libpetscspmv.so --type $(TYPE) --folder $(BUILD)/quickstart

test:
	@conf/packages test
	@$(MAKE) $(jobs) lib WERROR=1
	@$(MAKE) run-tests WERROR=1

test-all:
	@$(MAKE) test ALL=1

# What docs/examples.md runs, in build/examples
examples: lib
	@$(PYTHON) examples/compile --library lib/libpetscspmv.so --folder build/examples
	@echo 'Now, as docs/examples.md says: cd build/examples; export PETSC_OPTIONS="-dll_append $(CURDIR)/lib/libpetscspmv.so"'

# HTML of the manual pages, which are comments in the sources, and of README.md and docs/
docs:
	@rm -rf build/docs
	@$(PYTHON) conf/docs --html build/docs
	@echo build/docs/index.html

# What -help says; tests/docs.py compares it
docs/options.md: lib
	@conf/options --library lib/libpetscspmv.so >$@.new && mv -f $@.new $@

clean:
	rm -rf build lib

format:
	@command -v $(CLANG_FORMAT) >/dev/null || { echo "$(CLANG_FORMAT) was not found: install the package clang-format, or set CLANG_FORMAT"; exit 1; }
	find src include tests examples -name '*.[ch]' -o -name '*.cl' | xargs $(CLANG_FORMAT) -i

help:
	@echo 'make                     lib/libpetscspmv.so, by all processors, and the line to type; make lib: by one, and no word'
	@echo 'make quickstart          install what is missing, build, and compare with aij in three of PETSc'"'"'s tutorials'
	@echo 'make test                install what is missing, build, and test a sample of plans, types and numbers of processes'
	@echo 'make test-all            the same with all of them'
	@echo 'make test search=NAME    only the tests with NAME in their name, long ones among them'
	@echo 'make test-petsc          PETSc'"'"'s own tests under each type against aij (with $(SHARED)/tools); test-slepc: SLEPc'"'"'s (docs/testing.md has all suites)'
	@echo 'make test-variants       build and test with each PETSc that is installed, or VARIANTS="complex int64 debug", and write docs/variants.md'
	@echo 'make test-asan           the test programs with AddressSanitizer and UBSan; test-tsan, test-valgrind: with those; coverage: lines that none ran; lint: cppcheck, clang-tidy'
	@echo 'make test-fuzz           fuzzers of parsers and of structures times plans, FUZZ_SECONDS each (needs clang)'
	@echo 'make test-faults         all that makes allocations, devices, disks and caches fail'
	@echo 'make test-random         random sequences of operations, RANDOM_SECONDS for each type and number of processes, another seed each time'
	@echo 'make test-avx512         the tests of kernels with AVX-512 made of other instructions, on a machine without it (needs libsimde-dev)'
	@echo 'make bits BASE=FILE      do products have the bits they have with another libpetscspmv.so? bits-device, bits-cuda: on a device'
	@echo 'make spmvbench           build/spmvbench: which type is best for your matrix, how fast products are (needs libsuitesparse-dev and zlib1g-dev)'
	@echo 'make bench               docs/performance.md: all types on $(SHARED)/matrices and generated ones, and on finite elements (two hours or so)'
	@echo 'make bench-mkl           the same against Intel MKL (fetched from PyPI) and librsb (librsb-dev), one and two threads'
	@echo 'make bench-fem           the part of make bench on finite element matrices alone (needs python3-dolfinx-real; 40 minutes, FEM_SIZE=L2,L3: 12); bench-fem-mkl: that of bench-mkl'
	@echo 'make bench-solve         docs/solve.md: whole runs of programs that exist, aij against TYPES (two hours); search=NAME: some of them'
	@echo 'make bench-floats        docs/floats.md: iterations, true residuals and times of preconditioners with values in single precision (a quarter of an hour)'
	@echo 'make examples            build/examples: the programs that docs/examples.md runs'
	@echo 'make docs                build/docs/index.html: manual pages of types, functions and options, README.md and docs/, as HTML'
	@echo 'make docs/options.md    what -help says of every option'
	@echo 'make calibrate           measure this machine'"'"'s caches and rates, which formats and the tuner go by, and write them to the user'"'"'s file'
	@echo 'make tune-report         docs/tune.md: what -mat_type spmv chooses, against the best of all plans (an hour)'
	@echo 'make traffic             what kernels would ask of an H100'"'"'s memory, without one: then tests/traffic/run -matrix laplace7:40 -format pmf'
	@echo 'make device-traffic      the same for all formats and a list of matrices, with a prediction of times: the tables of docs/devices.md (a minute)'
	@echo 'make traffic-allow       tests/traffic/*.tsv: kernels that read too much or have few loads under way, which the test lets pass'
	@echo 'make tune-device-report  docs/tune-device.md: the same on a device (TUNE_DEVICE=opencl), against the best of the papers'"'"' tables'
	@echo 'make gpu-bundle          build/petscspmv-gpu.tar.xz: device tests and spmvbench for a machine with a GPU and nothing else'
	@echo 'make install PREFIX=DIR  library, header, pkg-config file, conf/petscspmv, manual pages and docs below DIR (now $(PREFIX)); STRIP=: keeps debug data'
	@echo '                         (docs/installing.md: Debian packages, pip, Spack, conda, PETSc'"'"'s configure)'
	@echo 'make uninstall           remove them, with the PREFIX they were installed with'
	@echo 'make dist                $(dist): the sources of the last commit'
	@echo 'make deb                 build/deb/*.deb: Debian packages of them, a library for each of Debian'"'"'s PETSc builds that is installed'
	@echo 'make format              clang-format on every C source'
	@echo 'make clean               remove build/ and lib/'
	@echo
	@echo 'PETSC_DIR, PETSC_ARCH    which PETSc; otherwise pkg-config says, otherwise Debian'"'"'s is taken'
	@echo 'CFLAGS, CPPFLAGS, LDFLAGS, WERROR=1, V=1 (show commands)'
