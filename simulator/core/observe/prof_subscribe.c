/* Design notes
 *
 * Subscriptions to the operators of a model: records are written to a pipe of the program.
 *
 * Each subscription owns a queue of records and a thread that writes them to the pipe, so that a slow reader delays no
 * stream and no call. The thread sleeps in poll() until there is room in the pipe or `su_wake` was written to, and
 * writes only whole records, as many as a pipe takes at once. Unsubscribing lets the thread finish alone: after the
 * last record it closes the pipe, which tells the reader that no more will come. aclsimReset ends and joins the threads
 * of running subscriptions; threads that finish alone end when the reader closes the pipe, at the latest with the
 * process.
 *
 * The lock guards the list and the queues; the session's mutex is taken inside it. */
#include "base/clock.h"
#include "base/thread.h"
#include "model/model.h"
#include "prof.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT_ONCE (PIPE_BUF / sizeof(struct sim_op_record))
#define QUEUE_MOST (1u << 20) /* records that wait for a reader; more are dropped */

struct config {
    struct sim_object co_object;
    bool co_times;
    int co_descriptor;
};

static struct sim_table configs = SIM_OBJECT_TABLE(struct config, SIM_KIND_SUBSCRIPTION);

struct subscription {
    struct subscription *su_next;
    uint32_t su_model;
    int su_pipe, su_wake;
    bool su_times, su_ends, su_discards;
    struct sim_op_record *su_records;
    uint32_t su_first, su_count, su_room; /* the queue begins at su_first of the array */
    pthread_t su_thread;
};

/* Guards the list, and the queue and the switches of each subscription. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct subscription *subscriptions; /* those that have not ended */
static _Atomic uint32_t subscription_count;

/* ---- configurations ---- */

aclprofSubscribeConfig *sim_prof_subscription_create(bool times, int descriptor)
{
    uint64_t handle;
    struct config *config = sim_object_take(&configs, &handle);
    if (config == NULL)
        return NULL;
    config->co_times = times;
    config->co_descriptor = descriptor;
    return sim_object_publish(config, handle);
}

static aclError open_config(const aclprofSubscribeConfig *handle, struct config **config)
{
    *config = sim_object_open(&configs, handle, "profSubscribeConfig", ACL_ERROR_INVALID_PARAM);
    return *config != NULL ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
}

static void end_config(void *config)
{
    sim_object_end(&configs, config);
}

aclError sim_prof_subscription_destroy(const aclprofSubscribeConfig *handle)
{
    struct config *config;
    SIM_TRY(open_config(handle, &config));
    end_config(config);
    return ACL_SUCCESS;
}

/* ---- the writing thread ---- */

static void free_subscription(struct subscription *subscription)
{
    close(subscription->su_pipe);
    close(subscription->su_wake);
    free(subscription->su_records);
    free(subscription);
}

/* Copies the oldest records, which stay in the queue, and returns their number. Sets *ends if the thread shall end
 * now. */
static uint32_t peek(struct subscription *subscription, struct sim_op_record *records, bool *ends)
{
    pthread_mutex_lock(&lock);
    uint32_t count = subscription->su_count < AT_ONCE ? subscription->su_count : (uint32_t)AT_ONCE;
    if (count != 0)
        memcpy(records, subscription->su_records + subscription->su_first, count * sizeof *records);
    *ends = subscription->su_discards || (subscription->su_ends && count == 0);
    pthread_mutex_unlock(&lock);
    return count;
}

static void drop(struct subscription *subscription, uint32_t count)
{
    pthread_mutex_lock(&lock);
    subscription->su_count -= count;
    subscription->su_first = subscription->su_count == 0 ? 0 : subscription->su_first + count;
    pthread_mutex_unlock(&lock);
}

/* Signals are blocked in this thread, so writing to a pipe without a reader only returns an error. */
static void *write_records(void *argument)
{
    struct subscription *subscription = argument;
    struct sim_op_record records[AT_ONCE];
    bool ends;
    for (;;) {
        uint32_t count = peek(subscription, records, &ends);
        if (ends)
            break;
        struct pollfd waits[2] = {{.fd = subscription->su_wake, .events = POLLIN},
                                  {.fd = subscription->su_pipe, .events = count != 0 ? POLLOUT : 0}};
        if (poll(waits, 2, -1) < 0 && errno != EINTR)
            break;
        uint64_t unread;
        if ((waits[0].revents & POLLIN) && read(subscription->su_wake, &unread, sizeof unread) < 0)
            break;
        if (waits[1].revents & (POLLERR | POLLNVAL))
            break; /* the reader has closed the pipe */
        if (!(waits[1].revents & POLLOUT))
            continue;
        ssize_t sent = write(subscription->su_pipe, records, count * sizeof *records);
        if (sent > 0)
            drop(subscription, (uint32_t)((size_t)sent / sizeof *records));
        else if (sent < 0 && errno != EINTR && errno != EAGAIN)
            break;
    }
    /* The reader is gone but the subscription remains: records are dropped until it ends. */
    for (;;) {
        uint64_t unread;
        pthread_mutex_lock(&lock);
        bool over = subscription->su_ends || subscription->su_discards, joined = subscription->su_discards;
        subscription->su_first = subscription->su_count = 0;
        pthread_mutex_unlock(&lock);
        if (joined)
            return NULL; /* the joining thread frees it */
        if (over)
            break;
        if (read(subscription->su_wake, &unread, sizeof unread) < 0 && errno != EINTR)
            break;
    }
    free_subscription(subscription);
    return NULL;
}

static void wake(const struct subscription *subscription)
{
    uint64_t one = 1;
    ssize_t written = write(subscription->su_wake, &one, sizeof one);
    (void)written; /* fails only if the counter is full, and then the thread is awake */
}

/* ---- subscribing ---- */

/* The lock is held. */
static struct subscription **find(uint32_t model)
{
    struct subscription **link = &subscriptions;
    while (*link != NULL && (*link)->su_model != model)
        link = &(*link)->su_next;
    return link;
}

static aclError check_model(uint32_t id)
{
    struct sim_model *model = sim_model_peek(id);
    SIM_ARGUMENT(model != NULL, ACL_ERROR_INVALID_MODEL_ID,
                 "modelId is %u, expected the id of a loaded model", id);
    sim_model_close(model);
    return ACL_SUCCESS;
}

static bool is_writable_pipe(int descriptor)
{
    struct stat status;
    int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(descriptor, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

/* Ends the pipe of a subscription to a model that does not exist, since the program has a thread that reads until
 * the pipe ends; does nothing if another subscription writes to it. The descriptor now leads to /dev/null, so that
 * the program can still close it. */
static void end_pipe(int descriptor)
{
    int nothing = is_writable_pipe(descriptor) ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nothing < 0)
        return;
    pthread_mutex_lock(&lock);
    const struct subscription *other = subscriptions;
    while (other != NULL && other->su_pipe != descriptor)
        other = other->su_next;
    if (other == NULL)
        dup3(nothing, descriptor, fcntl(descriptor, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
    pthread_mutex_unlock(&lock);
    close(nothing);
}

/* The lock is held. */
static aclError start_thread(struct subscription *subscription)
{
    SIM_ARGUMENT(*find(subscription->su_model) == NULL, ACL_ERROR_PROF_REPEAT_SUBSCRIBE,
                 "model %u is subscribed to already", subscription->su_model);
    SIM_ARGUMENT(is_writable_pipe(subscription->su_pipe), ACL_ERROR_INVALID_PARAM,
                 "the file descriptor of profSubscribeConfig is %d, expected the write end of a pipe",
                 subscription->su_pipe);
    SIM_ARGUMENT(sim_thread_start(&subscription->su_thread, write_records, subscription) == 0,
                 ACL_ERROR_PROFILING_FAILURE, "no thread could be started for a subscription");
    return ACL_SUCCESS;
}

static aclError start(struct subscription *subscription)
{
    pthread_mutex_lock(&lock);
    uint32_t count = atomic_load(&subscription_count);
    aclError code = sim_prof_set_subscriptions(count + 1);
    if (code == ACL_SUCCESS) {
        code = start_thread(subscription);
        if (code == ACL_SUCCESS) {
            *find(subscription->su_model) = subscription;
            atomic_store(&subscription_count, count + 1);
        } else {
            sim_prof_set_subscriptions(count);
        }
    }
    pthread_mutex_unlock(&lock);
    return code;
}

aclError sim_prof_subscribe(uint32_t model, const aclprofSubscribeConfig *handle)
{
    struct config *config;
    SIM_TRY(open_config(handle, &config));
    int descriptor = config->co_descriptor;
    bool times = config->co_times;
    sim_object_close(config);
    aclError unknown = check_model(model);
    if (unknown != ACL_SUCCESS) {
        end_pipe(descriptor);
        return unknown;
    }
    struct subscription *subscription = calloc(1, sizeof *subscription);
    int waking = subscription != NULL ? eventfd(0, EFD_CLOEXEC) : -1;
    if (waking < 0) {
        free(subscription);
        return sim_refuse(ACL_ERROR_PROFILING_FAILURE, "a subscription cannot be made: %s", strerror(errno));
    }
    *subscription = (struct subscription){
        .su_model = model, .su_pipe = descriptor, .su_wake = waking, .su_times = times};
    aclError code = start(subscription);
    if (code == ACL_SUCCESS)
        return code;
    close(waking);
    free(subscription);
    return code;
}

aclError sim_prof_unsubscribe(uint32_t model)
{
    pthread_mutex_lock(&lock);
    struct subscription **link = find(model), *subscription = *link;
    uint32_t count = atomic_load(&subscription_count) - (subscription != NULL);
    aclError code = sim_prof_set_subscriptions(count);
    if (subscription != NULL) {
        *link = subscription->su_next;
        atomic_store(&subscription_count, count);
        subscription->su_ends = true;
        pthread_detach(subscription->su_thread);
        wake(subscription); /* under the lock, because the thread may free it afterwards */
    }
    pthread_mutex_unlock(&lock);
    if (subscription != NULL || code != ACL_SUCCESS)
        return code;
    SIM_TRY(check_model(model));
    return sim_refuse(ACL_ERROR_INVALID_MODEL_ID, "modelId is %u, expected a model that is subscribed to", model);
}

/* ---- records ---- */

bool sim_prof_is_subscribed(uint32_t model)
{
    if (likely(atomic_load_explicit(&subscription_count, memory_order_acquire) == 0))
        return false;
    pthread_mutex_lock(&lock);
    const struct subscription *subscription = *find(model);
    bool wanted = subscription != NULL && subscription->su_times;
    pthread_mutex_unlock(&lock);
    return wanted;
}

/* Returns room for one more record, or NULL. The lock is held. */
static struct sim_op_record *add(struct subscription *subscription)
{
    uint32_t first = subscription->su_first, count = subscription->su_count, room = subscription->su_room;
    struct sim_op_record *records = subscription->su_records;
    if (first + count == room && first > room / 2) {
        memmove(records, records + first, count * sizeof *records);
        subscription->su_first = first = 0;
    }
    if (first + count == room && room < QUEUE_MOST) {
        room = room == 0 ? 16 : 2 * room;
        records = realloc(records, room * sizeof *records);
        if (records == NULL)
            return NULL;
        subscription->su_records = records;
        subscription->su_room = room;
    }
    if (first + count == room)
        return NULL;
    subscription->su_count++;
    return &records[first + count];
}

void sim_prof_tell(uint32_t model, const char *type, const char *name, uint64_t start, uint64_t end)
{
    struct sim_op_record record = {.or_magic = SIM_OP_RECORD_MAGIC, .or_model = model, .or_start = start,
                                   .or_end = end > start ? end : start + 1};
    snprintf(record.or_type, ACL_PROF_MAX_OP_TYPE_LEN, "%s", type);
    snprintf(record.or_name, ACL_PROF_MAX_OP_NAME_LEN, "%s", name);
    snprintf(record.or_thread, sizeof record.or_thread, "%u", sim_thread_number());
    pthread_mutex_lock(&lock);
    struct subscription *subscription = *find(model);
    struct sim_op_record *place = subscription != NULL ? add(subscription) : NULL;
    if (place != NULL) {
        *place = record;
        wake(subscription);
    }
    pthread_mutex_unlock(&lock);
}

void sim_prof_subscribe_reset(void)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        struct subscription *subscription = subscriptions;
        if (subscription != NULL) {
            subscriptions = subscription->su_next;
            subscription->su_discards = true;
            atomic_fetch_sub(&subscription_count, 1);
            wake(subscription);
        }
        pthread_mutex_unlock(&lock);
        if (subscription == NULL)
            break;
        pthread_join(subscription->su_thread, NULL);
        free_subscription(subscription);
    }
    sim_object_destroy_all(&configs, end_config);
}

/* The child has none of the threads and loses their queues; the pipes stay open, as after any fork. */
void sim_prof_subscribe_after_fork(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    subscriptions = NULL;
    atomic_store(&subscription_count, 0);
    sim_table_empty(&configs);
}
