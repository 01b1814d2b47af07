#pragma once
#include "tables/probe_notes.h"

#define EXTRACT_NOTES_COLUMNS(C, T) PROBE_NOTES_COLUMNS(C, T)
NAI_TABLE(EXTRACT_NOTES, extract_notes, "Notes on the rows", "One thing noticed while reading rows")
