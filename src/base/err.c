#include "base/err.h"

static int set_v(struct nai_err *err, int code, const char *fmt, va_list ap) NAI_PRINTF(3, 0);

static int set_v(struct nai_err *err, int code, const char *fmt, va_list ap) {
  if (!err)
    return code;
  char text[sizeof err->msg]; /* the message may be among its own arguments */
  vsnprintf(text, sizeof text, fmt, ap);
  memcpy(err->msg, text, strlen(text) + 1);
  err->code = code;
  err->damaged = false;
  err->errnum = 0;
  return code;
}

int nai_err_set(struct nai_err *err, int code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  set_v(err, code, fmt, ap);
  va_end(ap);
  return code;
}

int nai_err_damaged(struct nai_err *err, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int code = set_v(err, NAI_EINPUT, fmt, ap);
  va_end(ap);
  if (err)
    err->damaged = true;
  return code;
}

int nai_err_sys(struct nai_err *err, int code, int errnum, const char *fmt, ...) {
  va_list ap;
  if (errnum == ENOMEM || errnum == EMFILE || errnum == ENFILE)
    code = NAI_ELIMIT;
  va_start(ap, fmt);
  set_v(err, code, fmt, ap);
  va_end(ap);
  if (err) {
    size_t n = strlen(err->msg);
    char text[128];
    err->errnum = errnum;
    snprintf(err->msg + n, sizeof err->msg - n, ": %s", strerror_r(errnum, text, sizeof text));
  }
  return code;
}

int nai_err_wrap(struct nai_err *err, int code, const char *fmt, ...) {
  if (!err)
    return code;
  err->code = code;
  char inner[sizeof err->msg];
  memcpy(inner, err->msg, sizeof inner);
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(err->msg, sizeof err->msg, fmt, ap);
  va_end(ap);
  size_t n = strlen(err->msg);
  /* Losing the innermost words of an absurdly long chain is better than failing. */
  snprintf(err->msg + n, sizeof err->msg - n, ": %.1500s", inner);
  return code;
}

int nai_err_nomem(struct nai_err *err) { return nai_err_set(err, NAI_ELIMIT, "out of memory"); }

int nai_err_exit_status(int code) {
  switch (code) {
  case NAI_OK:
    return 0;
  case NAI_EUSAGE:
    return 2;
  case NAI_EINPUT:
  case NAI_ESTALE: /* for who cannot rebuild the file, it is input that cannot be read */
    return 3;
  case NAI_EIO:
    return 5;
  case NAI_ELIMIT:
    return 6;
  default:
    return 70;
  }
}
