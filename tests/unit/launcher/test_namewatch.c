/* The same changes are made before both ways of watching: dnotify, which is taken for
 * few folders, and inotify, for many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/namewatch.h"
#include "proxy/base/fd.h"

enum { MANY = NAMEWATCH_DESCRIPTORS + 1, FEW = 2 };

/* What was told. */
struct told {
    size_t folders[8];
    char name[64];
    size_t count;
};

static void on_name(void *owner, size_t folder, const char *name)
{
    struct told *t = owner;

    if (t->count < sizeof t->folders / sizeof *t->folders)
        t->folders[t->count] = folder;
    t->count++;
    snprintf(t->name, sizeof t->name, "%s", name != NULL ? name : "");
}

static void put(const char *path)
{
    autofd int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
}

/* In a new folder: "a" and "b", which hold "old", and "file". */
static int make_tree(void **state)
{
    char folder[] = "/tmp/namewatch-XXXXXX";

    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        return -1;
    *state = strdup(folder);
    assert_int_equal(mkdir("a", 0755), 0);
    assert_int_equal(mkdir("b", 0755), 0);
    put("a/old");
    put("b/old");
    put("file");
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static int remove_tree(void **state)
{
    int failed = chdir("/") != 0 ||
                 nftw(*state, remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0;

    free(*state);
    return failed ? -1 : 0;
}

/* Numbers 0 and 1 are "a" and "b". */
static void watch_both(struct namewatch *w, size_t count)
{
    struct err e;

    assert_true(namewatch_open(w, count, &e));
    if (w->by_signal != (count == FEW)) {
        print_message("skipped: this kernel has no dnotify (fs.dir-notify-enable)\n");
        namewatch_done(w);
        skip();
    }
    assert_true(namewatch_set(w, 0, "a", &e));
    assert_true(namewatch_set(w, 1, "b", &e));
}

static bool is_readable(const struct namewatch *w)
{
    struct pollfd watched = {.fd = w->fd, .events = POLLIN};

    return poll(&watched, 1, 0) == 1;
}

/* All that has come. */
static struct told take(struct namewatch *w)
{
    struct told t = {.count = 0};

    while (is_readable(w))
        namewatch_read(w, on_name, &t);
    return t;
}

static void make_file(void)
{
    put("a/new");
}

static void make_folder(void)
{
    assert_int_equal(mkdir("a/new", 0755), 0);
}

static void make_link(void)
{
    assert_int_equal(symlink("nowhere", "a/new"), 0);
}

static void link_file(void)
{
    assert_int_equal(link("file", "a/new"), 0);
}

static void move_in(void)
{
    assert_int_equal(rename("file", "a/new"), 0);
}

static void move_within(void)
{
    assert_int_equal(rename("a/old", "a/new"), 0);
}

static void move_over(void)
{
    assert_int_equal(rename("file", "a/old"), 0);
}

static void exchange(void)
{
    assert_int_equal(renameat2(AT_FDCWD, "file", AT_FDCWD, "a/old", RENAME_EXCHANGE),
                     0);
}

static void (*const changes[])(void) = {make_file, make_folder, make_link, link_file,
                                        move_in,   move_within, move_over, exchange};

static void check_changes(void **state, size_t count)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct namewatch w;
        struct told t;

        watch_both(&w, count);
        assert_int_equal(take(&w).count, 0);
        changes[i]();
        t = take(&w);
        assert_int_equal(t.count, 1);
        assert_int_equal(t.folders[0], 0);
        if (count == MANY)
            assert_string_equal(
                t.name,
                changes[i] == move_over || changes[i] == exchange ? "old" : "new");
        namewatch_done(&w);
        assert_int_equal(remove_tree(state), 0);
        assert_int_equal(make_tree(state), 0);
    }
}

static void test_changes_few(void **state)
{
    check_changes(state, FEW);
}

static void test_changes_many(void **state)
{
    check_changes(state, MANY);
}

/* Set anew after each event, nothing is lost. */
static void check_again(size_t count)
{
    struct namewatch w;
    struct err e;

    watch_both(&w, count);
    for (int i = 0; i < 50; i++) {
        struct told t;

        put("b/new");
        t = take(&w);
        assert_int_equal(t.count, 1);
        assert_int_equal(t.folders[0], 1);
        assert_true(namewatch_set(&w, 1, "b", &e));
        assert_int_equal(unlink("b/new"), 0);
    }
    namewatch_done(&w);
}

static void test_again(void **state)
{
    (void)state;
    check_again(MANY);
    check_again(FEW);
}

/* A folder that is put in the place of another is watched when it is set anew. */
static void check_replaced(void **state, size_t count)
{
    struct namewatch w;
    struct told t;
    struct err e;

    watch_both(&w, count);
    assert_int_equal(rename("a", "away"), 0);
    assert_int_equal(take(&w).count, 0);
    assert_int_equal(mkdir("a", 0755), 0);
    assert_true(namewatch_set(&w, 0, "a", &e));
    make_file();
    t = take(&w);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.folders[0], 0);
    namewatch_done(&w);
    assert_int_equal(remove_tree(state), 0);
    assert_int_equal(make_tree(state), 0);
}

static void test_replaced(void **state)
{
    check_replaced(state, MANY);
    check_replaced(state, FEW);
}

/* What cannot be watched anew stays watched: it may be back later. */
static void check_gone(void **state, size_t count)
{
    struct namewatch w;
    struct err e;

    watch_both(&w, count);
    put("a/1");
    assert_int_equal(rename("a", "away"), 0);
    assert_int_equal(take(&w).count, 1);
    assert_true(namewatch_set(&w, 0, "a", &e));
    assert_int_equal(rename("away", "a"), 0);
    put("a/2");
    assert_int_equal(take(&w).count, 1);
    assert_true(namewatch_set(&w, 0, "file", &e));
    assert_true(namewatch_set(&w, 0, "nowhere", &e));
    namewatch_done(&w);
    assert_int_equal(remove_tree(state), 0);
    assert_int_equal(make_tree(state), 0);
}

static void test_gone(void **state)
{
    check_gone(state, MANY);
    check_gone(state, FEW);
}

/* With no room for a signal that says more, one comes that says less. */
static void test_no_room(void **state)
{
    struct rlimit before, none = {0, 0};
    struct namewatch w;
    struct told t;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &before), 0);
    none.rlim_max = before.rlim_max;
    watch_both(&w, FEW);
    assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &none), 0);
    put("b/1");
    t = take(&w);
    assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &before), 0);
    assert_int_equal(t.count, 1);
    assert_true(t.folders[0] == NAMEWATCH_ALL);
    namewatch_done(&w);
}

/* The queue of the kernel holds one for each folder, however much happens. */
static void test_bounded(void **state)
{
    struct namewatch w;
    char name[16];

    (void)state;
    watch_both(&w, FEW);
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "a/%d", i);
        put(name);
    }
    assert_int_equal(take(&w).count, 1);
    namewatch_done(&w);
}

static void test_descriptors_run_out(void **state)
{
    struct rlimit before, low;
    struct namewatch w;
    struct err e;
    bool good;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    watch_both(&w, FEW);
    low = (struct rlimit){3, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    good = namewatch_set(&w, 0, "b", &e);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_false(good);
    assert_non_null(strstr(e.text, "ulimit -n"));
    namewatch_done(&w);
    assert_int_equal(w.fd, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_changes_few, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(test_changes_many, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(test_again, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(test_replaced, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(test_gone, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(test_no_room, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(test_bounded, make_tree, remove_tree),
        cmocka_unit_test_setup_teardown(test_descriptors_run_out, make_tree,
                                        remove_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
