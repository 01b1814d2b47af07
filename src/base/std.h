/* The headers of the C library itself. They come with every header of the project, so that a file names only what it
 * needs beyond them: POSIX, Linux, other libraries, other parts of the project. */
#pragma once

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
