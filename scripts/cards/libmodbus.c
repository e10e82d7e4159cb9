/*
 * libmodbus PATH|HOST BAUD|PORT TIMEOUT_MS FILE
 *
 * Polls with libmodbus as its manual shows it: everything that can be set is left as it is, except the time-out. See
 * clients.mjs for what all pollers do alike.
 */
#include <errno.h>
#include <modbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { QUESTIONS = 2, REGISTERS = 2, UNIT = 1 };

static void rest(void)
{
    const struct timespec time = {.tv_sec = 0, .tv_nsec = 250 * 1000 * 1000};
    nanosleep(&time, NULL);
}

/* A file that is written in place could be read half. */
static void show(const char *path, uint16_t values[QUESTIONS][REGISTERS])
{
    char next[4096];
    snprintf(next, sizeof next, "%s.next", path);
    FILE *file = fopen(next, "w");
    if (!file) return;
    fprintf(file, "%d,%d %d,%d\n", values[0][0], values[0][1], values[1][0], values[1][1]);
    fclose(file);
    rename(next, path);
}

int main(int count, char **arguments)
{
    if (count != 5) return 2;
    const char *place = arguments[1];
    const int number = atoi(arguments[2]);
    modbus_t *bus = place[0] == '/' ? modbus_new_rtu(place, number, 'N', 8, 1) : modbus_new_tcp(place, number);
    if (!bus) return 1;
    modbus_set_slave(bus, UNIT);
    modbus_set_response_timeout(bus, (uint32_t)atoi(arguments[3]) / 1000, (uint32_t)atoi(arguments[3]) % 1000 * 1000);
    uint16_t values[QUESTIONS][REGISTERS] = {{0}};
    for (;;) {
        while (modbus_connect(bus) != 0) rest();
        int isOpen = 1;
        while (isOpen) {
            for (int i = 0; i < QUESTIONS && isOpen; i++) {
                uint16_t got[REGISTERS];
                if (modbus_read_registers(bus, i * 10, REGISTERS, got) == REGISTERS) {
                    values[i][0] = got[0];
                    values[i][1] = got[1];
                    show(arguments[4], values);
                } else {
                    isOpen = errno != ECONNRESET && errno != EPIPE && errno != EBADF;
                }
            }
            rest();
        }
        modbus_close(bus);
    }
}
