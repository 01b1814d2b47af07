#include "rules/rules.h"
#include "table/columns.h"
