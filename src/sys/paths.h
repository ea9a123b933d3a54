/*
  paths.h - files that we keep for a user: whose count, and how one is replaced
*/
#pragma once
#include "../spmvimpl.h"
#include <stdio.h>
#include <sys/stat.h>

extern const char *SpmvDistrust(const struct stat *is, uid_t user);
extern FILE       *SpmvOpenTrusted(const char file[], const char **why);
extern FILE       *SpmvReplaceBegin(const char file[], char beside[], size_t size);
extern int         SpmvReplaceEnd(FILE *f, PetscBool good, const char beside[], const char file[]);
extern int         SpmvFolderHold(const char file[], double seconds);
extern void        SpmvFolderRelease(int *held);
