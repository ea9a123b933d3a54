/*
  wisdom.h - plans found by measuring, kept from one run to the next

  A file of lines, each "key | value", both text without '|' or line ends. The key says for what the value was found: library version,
  instruction set, scalar and index width, threads, processor, matrix; another key is a miss, so files may be copied and shared. The
  user's own file is read first, then the system's, which is never written.
*/
#pragma once
#include "../spmvimpl.h"

#define SPMV_WISDOM_LINE 1024 /* characters of a line, at most */

extern PetscErrorCode SpmvWisdomFind(const char file[], const char key[], char value[], size_t size, PetscBool *found);
extern PetscErrorCode SpmvWisdomAdd(const char file[], const char key[], const char value[]);
