/*
 * load PORT CONNECTIONS DEPTH SECONDS [PACE]: Modbus TCP clients on the loopback. In C, because a client in Node uses
 * more processor time than the servers that it is to measure.
 *
 * Each connection sends DEPTH requests at once (function 3, 10 registers from address 0 of unit 1), waits for all the
 * answers, and sends again. After half a second of warming up it prints `measuring`, measures for SECONDS, and prints
 * what it counted as JSON. A time is that of one such round in ms. SIGTERM ends measuring before its time. With PACE,
 * each connection begins so many rounds a second, and at once again where the answers took longer.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP 0.5
#define REQUEST 12
#define ANSWER 29
#define MOST_CONNECTIONS 256
#define MOST_DEPTH 64

struct client {
  uint16_t transaction;
  size_t received;
  double sent_at;
  double due; /* when the next round begins; 0 while one is under way */
  uint8_t answers[ANSWER * MOST_DEPTH];
};

static struct client clients[MOST_CONNECTIONS];
static struct pollfd sockets[MOST_CONNECTIONS];
static int connections, depth;
static double pace;
static volatile sig_atomic_t ended;

static void end_early(int signal) {
  (void)signal;
  ended = 1;
}

/* Seconds. */
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static double processor_time(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void ask(int i) {
  uint8_t requests[REQUEST * MOST_DEPTH];
  struct client *client = &clients[i];
  for (int each = 0; each < depth; each++) {
    uint16_t transaction = ++client->transaction;
    uint8_t request[REQUEST] = {transaction >> 8, transaction & 255, 0, 0, 0, 6, 1, 3, 0, 0, 0, 10};
    memcpy(requests + REQUEST * each, request, REQUEST);
  }
  client->received = 0;
  client->due = 0;
  client->sent_at = now();
  if (write(sockets[i].fd, requests, REQUEST * depth) != REQUEST * depth) fail("write");
}

static void check(const struct client *client) {
  for (int each = 0; each < depth; each++) {
    const uint8_t *answer = client->answers + ANSWER * each;
    uint16_t expected = client->transaction - depth + 1 + each;
    if ((answer[0] << 8 | answer[1]) == expected && answer[7] == 3 && answer[8] == 20) continue;
    fprintf(stderr, "a wrong answer\n");
    exit(1);
  }
}

/* Whether all answers of the round have come. */
static int receive(int i) {
  struct client *client = &clients[i];
  ssize_t length =
      read(sockets[i].fd, client->answers + client->received, ANSWER * depth - client->received);
  if (length <= 0) fail("read");
  client->received += length;
  if (client->received < (size_t)(ANSWER * depth)) return 0;
  check(client);
  return 1;
}

/* The answers of a round are there: the next one begins at once, or in its time. */
static void go_on(int i) {
  double due = pace > 0 ? clients[i].sent_at + 1 / pace : 0;
  if (due <= now()) ask(i);
  else clients[i].due = due;
}

/* Begins the rounds that are due, and waits for answers until the next one is. */
static void wait_for_answers(void) {
  double at = now(), next = at + 1;
  for (int i = 0; i < connections; i++) {
    if (clients[i].due == 0) continue;
    if (clients[i].due <= at) ask(i);
    else if (clients[i].due < next) next = clients[i].due;
  }
  double left = next - at;
  struct timespec time = {.tv_sec = (time_t)left, .tv_nsec = (long)(1e9 * (left - (time_t)left))};
  if (ppoll(sockets, connections, &time, NULL) < 0 && errno != EINTR) fail("ppoll");
}

static int compare(const void *a, const void *b) {
  double difference = *(const double *)a - *(const double *)b;
  return (difference > 0) - (difference < 0);
}

int main(int count, char **arguments) {
  if (count != 5 && count != 6) return 2;
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons(atoi(arguments[1])),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  connections = atoi(arguments[2]);
  depth = atoi(arguments[3]);
  double seconds = atof(arguments[4]);
  pace = count > 5 ? atof(arguments[5]) : 0;
  signal(SIGTERM, end_early);
  if (connections < 1 || connections > MOST_CONNECTIONS || depth < 1 || depth > MOST_DEPTH) return 2;
  for (int i = 0; i < connections; i++) {
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockets[i] = (struct pollfd){.fd = fd, .events = POLLIN};
    /* With a pace, the connections are not in step. */
    if (pace > 0) clients[i].due = now() + i / (pace * connections);
    else ask(i);
  }

  size_t rounds = 0, room = 1 << 20;
  double *times = malloc(room * sizeof *times);
  double begin = now() + WARM_UP, end = begin + seconds, used = 0;
  int measuring = 0;
  for (;;) {
    wait_for_answers();
    double at = now();
    if (!measuring && at >= begin) {
      measuring = 1;
      begin = at;
      end = at + seconds;
      used = processor_time();
      puts("measuring");
      fflush(stdout);
    }
    if (ended || (measuring && at >= end)) break;
    for (int i = 0; i < connections; i++) {
      if (sockets[i].revents == 0 || !receive(i)) continue;
      if (measuring) {
        if (rounds == room && (times = realloc(times, (room *= 2) * sizeof *times)) == NULL) fail("realloc");
        times[rounds++] = now() - clients[i].sent_at;
      }
      go_on(i);
    }
  }
  double elapsed = now() - begin;
  used = processor_time() - used;
  if (rounds == 0) times[0] = 0;
  qsort(times, rounds, sizeof *times, compare);
  printf("{\"requests\": %zu, \"perSecond\": %.1f, \"median\": %.4f, \"p99\": %.4f, \"ownLoad\": %.3f}\n",
         rounds * depth, rounds * depth / elapsed, 1000 * times[rounds / 2], 1000 * times[rounds * 99 / 100],
         used / elapsed);
  return 0;
}
