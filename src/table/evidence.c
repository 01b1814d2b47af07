#include "table/evidence.h"

#include <stddef.h>
