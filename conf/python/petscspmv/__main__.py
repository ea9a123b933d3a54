"""Prints the line for PETSC_OPTIONS: PETSC_OPTIONS="$(python3 -m petscspmv)" python3 program.py"""
import argparse, sys
import petscspmv

parser = argparse.ArgumentParser(prog='python3 -m petscspmv', description=__doc__)
parser.add_argument('--mat-type', default='spmv', help='the matrix type that programs get (spmv)')
parser.add_argument('--path', action='store_true', help='prints the path of the library only')
parser.add_argument('--folder', action='store_true', help='prints the folder of lib, include and conf only')
args = parser.parse_args()
try:
    print(petscspmv.path() if args.path else petscspmv.folder() if args.folder else petscspmv.options(args.mat_type))
except RuntimeError as error:
    sys.exit(str(error))
