/* version.h - the version these headers belong to, for the preprocessor; hilock_version() is the
 * one of the library at run time. */
#ifndef HILOCK_VERSION_H
#define HILOCK_VERSION_H

#define HILOCK_VERSION "0.1.0"
#define HILOCK_VERSION_NUMBER 0x000100 /* 0xMMmmpp: major, minor, patch */

#endif
