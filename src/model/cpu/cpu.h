/* What CPUs did: when threads ran, where they were when they were looked at, and which function a callchain stands for.
 * Part CPU of the model; all of it is empty where the trace has neither scheduling nor samples nor callchains. Times
 * are ns. */
#pragma once

#include "base/buf.h"
#include "model/model.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"

/* Rows of sched_events or sample_events of one thread, by time. Threads that table `threads` does not have are there,
 * too. */
struct nai_cpu_thread {
  int64_t global_tid;
  uint32_t first, count; /* in nai_cpu_rows.order */
};
struct nai_cpu_rows {
  uint32_t *order;
  struct nai_cpu_thread *threads; /* by global_tid */
  uint32_t thread_count;
};

enum { NAI_SCHED_RUNNABLE = 1 }; /* sched_events.thread_state of a row that stops: the thread could have gone on */
/* In Python's interpreter lock; in its garbage collection; innermost in a function that optimized code does not call;
 * no stack, but the innermost frame alone. */
enum { NAI_CHAIN_GIL = 1, NAI_CHAIN_GC = 2, NAI_CHAIN_NOT_INLINED = 4, NAI_CHAIN_ALONE = 8 };

/* A callchain and the function it stands for: the innermost one that is the program's own, else of a library. */
struct nai_chain {
  int64_t id;
  uint32_t function;  /* string of callchain_frames, NAI_NO_STRING for none */
  uint32_t innermost; /* the function that the thread was in, the same way */
  uint8_t kind;       /* NAI_CALLCHAIN_... */
  uint8_t flags;      /* NAI_CHAIN_... */
  bool is_module;     /* no function has a name: `function` is the path of the innermost frame's library */
  bool is_own;        /* the function is the program's or a library's that it uses, not the system's or CUDA's */
};

struct nai_cpu {
  struct SCHED_EVENTS_columns sched_events;
  struct SAMPLE_EVENTS_columns sample_events;
  struct nai_cpu_rows sched, samples;
  struct nai_chain *chains; /* by kind and id */
  uint32_t chain_count;
  int64_t period_ns;    /* usual distance between samples of a CPU that tell a function, 0 without */
  bool stacks_are_rare; /* most samples have no stack: Nsight Systems takes one with every fourth */
  bool tells_runnable;  /* the export says which threads were taken off a CPU while they could run */
};

/* How time of one thread divides; the three add up to it. preempted_ns is a part of off_ns. */
struct nai_cpu_time {
  int64_t on_ns, off_ns, unknown_ns, preempted_ns;
  uint32_t breaks; /* rows that do not alternate between beginning and stopping */
};

/* The thread's rows, NULL for none. */
const struct nai_cpu_thread *nai_cpu_find(const struct nai_cpu_rows *rows, int64_t global_tid);
/* Adds how [start, end) of a thread divides. */
void nai_cpu_time_add(struct nai_cpu_time *time, const struct nai_model *model, int64_t global_tid, int64_t start,
                      int64_t end);
/* The callchain, NULL when there is none of that id. */
const struct nai_chain *nai_cpu_chain(const struct nai_model *model, int kind, int64_t id);
/* What a chain is called in tables: the function, or its library's file name. */
const char *nai_chain_name(const struct nai_model *model, const struct nai_chain *chain);
/* Whether a sample stands for a stretch of time: stacks taken on a context switch do not. */
bool nai_sample_is_timed(const struct nai_model *model, uint32_t sample);
/* Whether a timed sample tells which of the program's functions the thread was in. Where few samples have stacks, the
 * others only tell the innermost function, seldom one of the program's: they would make up shares of their own. */
bool nai_sample_tells(const struct nai_model *model, const struct nai_chain *chain);
