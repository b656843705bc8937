#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/kernelfs.h"
#include "launcher/paths.h"

/* "@" stands for the folder of the test. In it: dir/sub/file, to -> dir/sub,
 * up -> ../@/dir (by its name), abs -> @/dir, dead -> /nowhere/x, loop -> loop. */
static const struct {
    const char *text, *path; /* path NULL: refused */
    enum path_kind kind;
    size_t links;
} rows[] = {
    {"dir", "@/dir", PATH_FOLDER, 0},
    {"./dir/", "@/dir", PATH_FOLDER, 0},
    {"dir//sub/./file", "@/dir/sub/file", PATH_FILE, 0},
    {"dir/sub/..", "@/dir", PATH_FOLDER, 0},
    {"to/file", "@/dir/sub/file", PATH_FILE, 1},
    {"to/../sub", "@/dir/sub", PATH_FOLDER, 1}, /* ".." of where the link leads */
    {"abs/sub", "@/dir/sub", PATH_FOLDER, 1},
    {"dead", "/nowhere/x", PATH_ABSENT, 1},
    {"new", "@/new", PATH_ABSENT, 0},
    {"new/deep/er", "@/new/deep/er", PATH_ABSENT, 0},
    {"new/./deep", "@/new/deep", PATH_ABSENT, 0},
    {"dir/sub/file/below", "@/dir/sub/file/below", PATH_ABSENT, 0},
    {"~", "@/dir", PATH_FOLDER, 0},
    {"~/sub", "@/dir/sub", PATH_FOLDER, 0},
    {"/", "/", PATH_FOLDER, 0},
    {"/..", "/", PATH_FOLDER, 0},
    {"//proc", "/proc", PATH_FOLDER, 0},
    {"", NULL, 0, 0},
    {"loop", NULL, 0, 0},
    {"new/../dir", NULL, 0, 0}, /* could mean anything later */
    {"~root/x", NULL, 0, 0},
};

static void expand(const char *text, const char *folder, char *out)
{
    if (text[0] == '@')
        snprintf(out, PATH_MAX, "%s%s", folder, text + 1);
    else
        snprintf(out, PATH_MAX, "%s", text);
}

static void make_tree(const char *folder)
{
    FILE *file;

    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("dir", 0755), 0);
    assert_int_equal(mkdir("dir/sub", 0755), 0);
    file = fopen("dir/sub/file", "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(symlink("dir/sub", "to"), 0);
    assert_int_equal(symlink("/nowhere/x", "dead"), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
}

static void remove_tree(void)
{
    static const char *const parts[] = {"to", "dead", "loop", "abs", "dir/sub/file"};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        unlink(parts[i]);
    rmdir("dir/sub");
    rmdir("dir");
}

static void test_find(void **state)
{
    char folder[] = "/tmp/weir-test-XXXXXX", home[PATH_MAX], wanted[PATH_MAX];
    struct place place;
    struct err e;

    (void)state;
    assert_non_null(mkdtemp(folder));
    make_tree(folder);
    snprintf(home, sizeof home, "%s/dir", folder);
    assert_int_equal(symlink(home, "abs"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool found = path_find(rows[i].text, folder, home, &place, &e);

        if (found != (rows[i].path != NULL))
            fail_msg("\"%s\": %s", rows[i].text, found ? place.path : e.text);
        if (!found)
            continue;
        expand(rows[i].path, folder, wanted);
        assert_string_equal(place.path, wanted);
        assert_int_equal(place.kind, rows[i].kind);
        assert_int_equal(place.link_count, rows[i].links);
        place_done(&place);
    }
    assert_true(path_find("new/deep", folder, NULL, &place, &e));
    assert_int_equal(place.present, strlen(folder));
    assert_false(path_find("~", folder, NULL, &place, &e));
    remove_tree();
    assert_int_equal(chdir("/"), 0);
    rmdir(folder);
}

static void test_long(void **state)
{
    char *text = malloc(2 * PATH_MAX);
    struct place place;
    struct err e;

    (void)state;
    memset(text, 'a', 2 * PATH_MAX - 1);
    text[2 * PATH_MAX - 1] = '\0';
    text[0] = '/';
    assert_false(path_find(text, "/", NULL, &place, &e));
    text[NAME_MAX + 2] = '\0';
    assert_false(path_find(text, "/", NULL, &place, &e));
    text[NAME_MAX + 1] = '\0';
    assert_true(path_find(text, "/", NULL, &place, &e));
    assert_int_equal(place.kind, PATH_ABSENT);
    place_done(&place);
    for (size_t i = 0; i < PATH_MAX - 1; i += 2)
        memcpy(text + i, "/b", 2);
    text[PATH_MAX] = '\0';
    assert_false(path_find(text, "/", NULL, &place, &e));
    free(text);
}

static void test_within(void **state)
{
    (void)state;
    assert_true(path_within("/a/b", "/a"));
    assert_true(path_within("/a", "/a"));
    assert_true(path_within("/a", "/"));
    assert_false(path_within("/ab", "/a"));
    assert_false(path_within("/", "/a"));
    assert_true(path_is_pattern("a*"));
    assert_true(path_is_pattern("[a]"));
    assert_true(path_is_pattern("a?"));
    assert_false(path_is_pattern("a.b-c{}~"));
}

static void test_mountinfo(void **state)
{
    static const struct {
        const char *line, *point; /* NULL: not one of ours */
    } lines[] = {
        {"22 27 0:21 / /proc rw,relatime - proc proc rw\n", "/proc"},
        {"22 27 0:21 / /srv/a\\040b/proc rw - proc none rw\n", "/srv/a b/proc"},
        {"23 27 0:22 / /sys rw shared:7 master:1 - sysfs sysfs rw\n", "/sys"},
        {"23 27 0:22 /x /a\\134b rw - cgroup2 c rw\n", "/a\\b"},
        {"27 1 254:0 / / rw - ext4 /dev/vda rw\n", NULL},
        {"27 1 254:0 / /proc rw - procx p rw\n", NULL},
        {"27 1 254:0 / /a\\04 - proc p rw\n", NULL},
        {"27 1 254:0\n", NULL},
        {"", NULL},
        {" - proc", NULL},
    };
    char point[PATH_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        bool ours = kernelfs_parse(lines[i].line, point);

        assert_int_equal(ours, lines[i].point != NULL);
        if (ours)
            assert_string_equal(point, lines[i].point);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_within),
        cmocka_unit_test(test_mountinfo),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
