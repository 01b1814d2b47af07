/* The only place that knows ncurses. What has to be undone when the program ends in the middle (a signal, a fault) is
 * written by functions that may be called from a signal handler. */
#include "features/view/screen.h"
#include "features/view/view.h"

#include "base/fs.h"
#include "base/temporary.h"

#include <curses.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

static bool write_locale(const char *directory) {
  char path[PATH_MAX];
  struct nai_err ignored;
  if (!nai_fs_join(path, sizeof path, directory, "C.UTF-8") || nai_fs_mkdir(path, &ignored) ||
      !nai_fs_join(path, sizeof path, directory, "C.UTF-8/LC_CTYPE"))
    return false;
  return nai_fs_write(path, nai_locale, nai_locale_bytes, &ignored) == NAI_OK;
}

/* The C library takes locales from files only, and keeps them mapped. */
static void use_builtin_locale(void) {
  struct nai_temporary directory;
  struct nai_err ignored;
  if (!nai_locale_bytes || getenv("LOCPATH") || nai_temporary_in(&directory, nai_temporary_place(), &ignored))
    return;
  if (write_locale(directory.path) && setenv("LOCPATH", directory.path, 1) == 0) {
    setlocale(LC_CTYPE, "C.UTF-8");
    unsetenv("LOCPATH"); /* for programs that are started */
  }
  nai_temporary_remove(&directory);
}

void nai_display_locale(void) {
  /* Its files are not there, or of another C library than a static program's. */
  if (!setlocale(LC_CTYPE, "") && !setlocale(LC_CTYPE, "C.UTF-8"))
    use_builtin_locale();
}

/* The descriptions that are built in (CMakeLists.txt), for machines without. ncurses takes them from the environment.
 */
static bool use_builtin_terminal(void) {
  const char *name = getenv("TERM");
  for (const struct nai_terminal *t = nai_terminals; name && t->name; t++)
    if (strcmp(t->name, name) == 0)
      return setenv("TERMINFO", t->description, 1) == 0;
  return false;
}

static bool set_up_terminal(void) {
  int known;
  return setupterm(NULL, STDOUT_FILENO, &known) == OK ||
         (use_builtin_terminal() && setupterm(NULL, STDOUT_FILENO, &known) == OK);
}

const char *nai_display_trouble(void) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
    return "standard input or output is no terminal";
  if (!set_up_terminal())
    return "TERM names no terminal that is known here";
  const char *place = tigetstr("cup");
  return !place || place == (const char *)-1 ? "this kind of terminal (TERM) cannot place the cursor" : NULL;
}

/* --- putting the terminal back ------------------------------------------------------------------------ */

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT}, faults[] = {SIGBUS, SIGSEGV, SIGABRT, SIGFPE};
enum { ENDS = sizeof ends / sizeof *ends, FAULTS = sizeof faults / sizeof *faults };

/* Signal handlers have no other way to what they need. */
static struct {
  volatile sig_atomic_t ended_by;
  int pipe[2]; /* wakes the loop */
  struct termios modes;
  char reset[256]; /* what undoes the rest */
  size_t reset_len;
  struct sigaction before_ends[ENDS], before_faults[FAULTS];
} terminal = {.pipe = {-1, -1}};

static void on_end(int number) {
  int was = errno;
  terminal.ended_by = number;
  ssize_t ignored = write(terminal.pipe[1], "", 1);
  (void)ignored;
  errno = was;
}

static void on_fault(int number) {
  ssize_t ignored = write(STDOUT_FILENO, terminal.reset, terminal.reset_len);
  (void)ignored;
  tcsetattr(STDOUT_FILENO, TCSANOW, &terminal.modes);
  for (int i = 0; i < FAULTS; i++)
    sigaction(faults[i], &terminal.before_faults[i], NULL);
  raise(number); /* to whoever was asked before: for SIGBUS that says what happened */
}

/* A capability without its padding ("$<5>"). */
static void add_reset(const char *capability) {
  const char *text = tigetstr(capability);
  if (!text || text == (const char *)-1)
    return;
  while (*text && terminal.reset_len < sizeof terminal.reset) {
    if (strncmp(text, "$<", 2) == 0) {
      text += strcspn(text, ">") + (strchr(text, '>') != NULL);
      continue;
    }
    terminal.reset[terminal.reset_len++] = *text++;
  }
}

static int take_signals(struct nai_err *err) {
  struct sigaction end = {.sa_handler = on_end}, fault = {.sa_handler = on_fault, .sa_flags = SA_RESETHAND};
  if (pipe2(terminal.pipe, O_CLOEXEC | O_NONBLOCK))
    return nai_err_sys(err, NAI_ELIMIT, errno, "cannot make a pipe");
  terminal.ended_by = 0;
  for (int i = 0; i < ENDS; i++) {
    sigaction(ends[i], &end, &terminal.before_ends[i]);
    if (terminal.before_ends[i].sa_handler == SIG_IGN)
      sigaction(ends[i], &terminal.before_ends[i], NULL); /* nohup */
  }
  for (int i = 0; i < FAULTS; i++)
    sigaction(faults[i], &fault, &terminal.before_faults[i]);
  return NAI_OK;
}

static void give_signals_back(void) {
  for (int i = 0; i < ENDS; i++)
    sigaction(ends[i], &terminal.before_ends[i], NULL);
  for (int i = 0; i < FAULTS; i++)
    sigaction(faults[i], &terminal.before_faults[i], NULL);
  close(terminal.pipe[0]);
  close(terminal.pipe[1]);
}

/* --- screen ------------------------------------------------------------------------------------------- */

static void put_cell(const struct nai_glyph *cell, int y, int x) {
  wchar_t text[2] = {(wchar_t)cell->character, 0};
  attr_t attributes = 0;
  cchar_t c;
  if (!cell->character) /* the right half of what was put before */
    return;
  attributes |= cell->attributes & NAI_BOLD ? A_BOLD : 0;
  attributes |= cell->attributes & NAI_REVERSE ? A_REVERSE : 0;
  attributes |= cell->attributes & NAI_DIM ? A_DIM : 0;
  attributes |= cell->attributes & NAI_UNDERLINE ? A_UNDERLINE : 0;
  if (setcchar(&c, text, attributes, cell->color, NULL) == OK)
    mvadd_wch(y, x, &c); /* of the last cell ncurses says that it failed */
}

static int show(struct nai_term *view, struct nai_err *err) {
  NAI_SCOPED(nai_screen) s = {0};
  nai_term_resize(view, COLS, LINES);
  NAI_TRY(nai_term_draw(&s, view, err));
  erase();
  for (int y = 0; y < s.height; y++)
    for (int x = 0; x < s.width; x++)
      put_cell(nai_screen_cell(&s, y, x), y, x);
  refresh();
  if (!nai_term_busy(view))
    return NAI_OK;
  nai_term_work(view);
  return show(view, err);
}

/* Arrows as terminals send them that do not do what they are told (smkx). */
static void define_keys(void) {
  static const struct {
    const char *bytes;
    int key;
  } keys[] = {{"\033[A", KEY_UP},    {"\033[B", KEY_DOWN}, {"\033[C", KEY_RIGHT},     {"\033[D", KEY_LEFT},
              {"\033[H", KEY_HOME},  {"\033[F", KEY_END},  {"\033OA", KEY_UP},        {"\033OB", KEY_DOWN},
              {"\033OC", KEY_RIGHT}, {"\033OD", KEY_LEFT}, {"\033[1;2C", KEY_SRIGHT}, {"\033[1;2D", KEY_SLEFT},
              {"\033[Z", KEY_BTAB},  {"\033OH", KEY_HOME}, {"\033OF", KEY_END}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    define_key(keys[i].bytes, keys[i].key);
}

static void begin(bool color) {
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  leaveok(stdscr, TRUE);
  set_escdelay(25);
  curs_set(0);
  define_keys();
  mouseinterval(0);
  mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED | BUTTON_SHIFT, NULL);
  if (color && has_colors() && start_color() == OK) {
    use_default_colors();
    for (int i = 1; i < NAI_COLORS; i++)
      init_pair((short)i, (short)i, -1);
  }
  terminal.reset_len = 0;
  add_reset("sgr0");
  add_reset("cnorm");
  add_reset("rmkx");
  if (key_defined("\033[M") == KEY_MOUSE || key_defined("\033[<") == KEY_MOUSE) {
    static const char off[] = "\033[?1000l\033[?1006l";
    memcpy(terminal.reset + terminal.reset_len, off, sizeof off - 1);
    terminal.reset_len += sizeof off - 1;
  }
  add_reset("rmcup");
}

/* --- keys --------------------------------------------------------------------------------------------- */

static uint32_t key_of(wint_t code) {
  static const struct {
    wint_t code;
    uint32_t key;
  } keys[] = {{KEY_LEFT, NAI_KEY_LEFT},
              {KEY_RIGHT, NAI_KEY_RIGHT},
              {KEY_UP, NAI_KEY_UP},
              {KEY_DOWN, NAI_KEY_DOWN},
              {KEY_SLEFT, NAI_KEY_SHIFT_LEFT},
              {KEY_SRIGHT, NAI_KEY_SHIFT_RIGHT},
              {KEY_PPAGE, NAI_KEY_PAGE_UP},
              {KEY_NPAGE, NAI_KEY_PAGE_DOWN},
              {KEY_HOME, NAI_KEY_HOME},
              {KEY_END, NAI_KEY_END},
              {KEY_BTAB, NAI_KEY_SHIFT_TAB},
              {KEY_ENTER, NAI_KEY_ENTER},
              {KEY_BACKSPACE, NAI_KEY_BACKSPACE}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (keys[i].code == code)
      return keys[i].key;
  return 0;
}

static int take_event(struct nai_term *view, const MEVENT *event, struct nai_err *err) {
  static const struct {
    mmask_t state;
    enum nai_mouse what;
  } states[] = {{BUTTON4_PRESSED, NAI_MOUSE_WHEEL_UP},
                {BUTTON5_PRESSED, NAI_MOUSE_WHEEL_DOWN},
                {BUTTON1_PRESSED, NAI_MOUSE_PRESS},
                {BUTTON1_RELEASED, NAI_MOUSE_RELEASE}};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    if (event->bstate & states[i].state)
      return nai_term_mouse(view, states[i].what, event->bstate & BUTTON_SHIFT, event->y, event->x, err);
  return NAI_OK;
}

/* Those that came at once are handed out last first. */
static int take_mouse(struct nai_term *view, struct nai_err *err) {
  enum { MOST = 8 }; /* ncurses keeps no more */
  MEVENT events[MOST];
  int count = 0;
  while (count < MOST && getmouse(&events[count]) == OK)
    count++;
  while (count > 0)
    NAI_TRY(take_event(view, &events[--count], err));
  return NAI_OK;
}

/* All keys that have been pressed. */
static int take_keys(struct nai_term *view, struct nai_err *err) {
  enum { CTRL_L = 12 };
  wint_t code;
  int kind;
  while (!nai_term_done(view) && (kind = get_wch(&code)) != ERR) {
    if (kind == KEY_CODE_YES && code == KEY_MOUSE)
      NAI_TRY(take_mouse(view, err));
    else if (kind == KEY_CODE_YES && key_of(code))
      NAI_TRY(nai_term_key(view, key_of(code), err));
    else if (kind != KEY_CODE_YES && code == CTRL_L)
      clearok(curscr, TRUE);
    else if (kind != KEY_CODE_YES)
      NAI_TRY(nai_term_key(view, code, err));
  }
  return NAI_OK;
}

static int run(struct nai_term *view, struct nai_err *err) {
  struct pollfd from[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = terminal.pipe[0], .events = POLLIN}};
  NAI_TRY(show(view, err));
  while (!nai_term_done(view) && !terminal.ended_by) {
    int ready = poll(from, 2, -1);
    if (ready < 0 && errno != EINTR)
      return nai_err_sys(err, NAI_EIO, errno, "cannot wait for keys");
    NAI_TRY(take_keys(view, err)); /* a change of size comes as a key */
    if (!terminal.ended_by && !nai_term_done(view))
      NAI_TRY(show(view, err));
    if (ready > 0 && from[0].revents & (POLLHUP | POLLERR | POLLNVAL)) /* the terminal is gone */
      return NAI_OK;
  }
  return NAI_OK;
}

int nai_display_run(int *ended_by, struct nai_term *view, bool color, struct nai_err *err) {
  *ended_by = 0;
  int rc;
  tcgetattr(STDOUT_FILENO, &terminal.modes);
  NAI_TRY(take_signals(err));
  SCREEN *screen = newterm(NULL, stdout, stdin);
  if (screen) {
    begin(color);
    rc = run(view, err);
    mousemask(0, NULL);
    endwin();
    delscreen(screen);
    tcsetattr(STDOUT_FILENO, TCSANOW, &terminal.modes);
  } else {
    rc = nai_err_set(err, NAI_EUSAGE, "the terminal cannot be used; --once prints the same rows as text");
  }
  *ended_by = terminal.ended_by;
  give_signals_back();
  return rc;
}
