/* Callbacks that another thread runs: what a hand-over between two threads costs. */
#include "twin.h"
#include <pthread.h>

#define CALLBACKS 1000 /* queued at once */

static aclrtStream stream;
static void *cell;

static void *serve(void *unused)
{
    for (;;)
        (void)aclrtProcessReport(100);
    return unused;
}

static void prepare(void)
{
    pthread_t server;
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&cell, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    if (pthread_create(&server, NULL, serve, NULL) != 0)
        exit(1);
    OK(aclrtSubscribeReport((uint64_t)server, stream));
}

static void count_call(void *calls)
{
    ++*(int *)calls;
}

/* Each callback blocks the stream, so that this thread hands over to the other one, and that one back to it. */
static double sample_callbacks(void)
{
    int calls = 0;
    uint64_t start = twin_now();
    for (int i = 0; i < CALLBACKS; i++) {
        OK(aclrtMemsetAsync(cell, 4, 1, 4, stream));
        OK(aclrtLaunchCallback(count_call, &calls, ACL_CALLBACK_BLOCK, stream));
    }
    OK(aclrtSynchronizeStream(stream));
    if (calls != CALLBACKS)
        exit(1);
    return twin_each(start, CALLBACKS);
}

int main(int argc, char **argv)
{
    static const struct twin_row rows[] = {{"callbacks", prepare, sample_callbacks}};
    return TWIN_MAIN(rows);
}
