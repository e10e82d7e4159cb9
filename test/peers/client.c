/*
 * A libmodbus client for libmodbus.test.ts. It carries out the commands of its standard input, one a line, and
 * prints one line for each: the values read, "ok", or "error <number>: <text>", where exceptions are numbered by
 * their code.
 *
 *   client rtu <port> <baud rate> <N|E|O> <stop bits>
 *   client tcp <host> <port>
 *
 *   unit <identifier>             timeout <ms>
 *   read-coils <address> <n>      read-discrete <address> <n>
 *   read-input <address> <n>      read-holding <address> <n>
 *   write-coil <address> <0|1>    write-coils <address> <value>...
 *   write-holding <address> <v>   write-holdings <address> <value>...
 *   mask <address> <and> <or>
 *   write-read <write address> <read address> <n> <value>...
 *   report-id                     function 17: identifier, run indicator, additional data
 *   raw <byte>...                 function code and data; the answer's bytes after the unit identifier
 */
#include <errno.h>
#include <modbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 2000

static modbus_t *bus;

static modbus_t *new_context(int count, char **argument) {
  if (count == 6 && strcmp(argument[1], "rtu") == 0)
    return modbus_new_rtu(argument[2], atoi(argument[3]), argument[4][0], 8, atoi(argument[5]));
  if (count == 4 && strcmp(argument[1], "tcp") == 0) return modbus_new_tcp(argument[2], atoi(argument[3]));
  return NULL;
}

static void print_error(void) {
  int number = errno > MODBUS_ENOBASE && errno <= EMBXGTAR ? errno - MODBUS_ENOBASE : errno;
  printf("error %d: %s", number, modbus_strerror(errno));
}

static void print_bits(int count, const uint8_t *bits) {
  if (count < 0) print_error();
  for (int i = 0; i < count; i++) printf(i == 0 ? "%d" : " %d", bits[i]);
}

static void print_registers(int count, const uint16_t *registers) {
  if (count < 0) print_error();
  for (int i = 0; i < count; i++) printf(i == 0 ? "%d" : " %d", registers[i]);
}

static void print_done(int result) {
  if (result < 0) print_error();
  else printf("ok");
}

static void report_id(void) {
  uint8_t bytes[MODBUS_MAX_PDU_LENGTH];
  print_bits(modbus_report_slave_id(bus, sizeof bytes, bytes), bytes);
}

static void send_raw(int count, const int *numbers) {
  uint8_t request[MODBUS_MAX_ADU_LENGTH], response[MODBUS_MAX_ADU_LENGTH];
  request[0] = (uint8_t)modbus_get_slave(bus);
  for (int i = 0; i < count; i++) request[i + 1] = (uint8_t)numbers[i];
  if (modbus_send_raw_request(bus, request, count + 1) < 0) {
    print_error();
    return;
  }
  int length = modbus_receive_confirmation(bus, response);
  int header = modbus_get_header_length(bus);
  /* An RTU header is the unit identifier alone, and only there a CRC follows. */
  int end = header == 1 ? length - 2 : length;
  if (length < 0) print_error();
  for (int i = header; i < end; i++) printf(i == header ? "%d" : " %d", response[i]);
}

static void carry_out(const char *command, int count, const int *n) {
  static uint8_t bits[MAX_VALUES];
  static uint16_t registers[MAX_VALUES];
  int first = strcmp(command, "write-read") == 0 ? 3 : 1;
  for (int i = first; i < count; i++) {
    bits[i - first] = (uint8_t)n[i];
    registers[i - first] = (uint16_t)n[i];
  }
  int values = count - first;

  if (!strcmp(command, "unit")) print_done(modbus_set_slave(bus, n[0]));
  else if (!strcmp(command, "timeout")) print_done(modbus_set_response_timeout(bus, n[0] / 1000, n[0] % 1000 * 1000));
  else if (!strcmp(command, "read-coils")) print_bits(modbus_read_bits(bus, n[0], n[1], bits), bits);
  else if (!strcmp(command, "read-discrete")) print_bits(modbus_read_input_bits(bus, n[0], n[1], bits), bits);
  else if (!strcmp(command, "read-input"))
    print_registers(modbus_read_input_registers(bus, n[0], n[1], registers), registers);
  else if (!strcmp(command, "read-holding"))
    print_registers(modbus_read_registers(bus, n[0], n[1], registers), registers);
  else if (!strcmp(command, "write-coil")) print_done(modbus_write_bit(bus, n[0], n[1]));
  else if (!strcmp(command, "write-coils")) print_done(modbus_write_bits(bus, n[0], values, bits));
  else if (!strcmp(command, "write-holding")) print_done(modbus_write_register(bus, n[0], (uint16_t)n[1]));
  else if (!strcmp(command, "write-holdings")) print_done(modbus_write_registers(bus, n[0], values, registers));
  else if (!strcmp(command, "mask"))
    print_done(modbus_mask_write_register(bus, n[0], (uint16_t)n[1], (uint16_t)n[2]));
  else if (!strcmp(command, "write-read")) {
    uint16_t answer[MODBUS_MAX_WR_READ_REGISTERS];
    print_registers(modbus_write_and_read_registers(bus, n[0], values, registers, n[1], n[2], answer), answer);
  } else if (!strcmp(command, "report-id")) report_id();
  else if (!strcmp(command, "raw")) send_raw(count, n);
  else printf("no such command: %s", command);
  printf("\n");
}

int main(int count, char **argument) {
  static char line[16384];
  static int numbers[MAX_VALUES];
  bus = new_context(count, argument);
  if (bus == NULL) {
    fprintf(stderr, "usage: client rtu PORT BAUD N|E|O STOPBITS, or client tcp HOST PORT\n");
    return 2;
  }
  modbus_set_slave(bus, 1);
  modbus_set_response_timeout(bus, 20, 0);
  if (modbus_connect(bus) < 0) {
    fprintf(stderr, "connect: %s\n", modbus_strerror(errno));
    return 1;
  }
  while (fgets(line, sizeof line, stdin) != NULL) {
    int found = 0;
    char *command = strtok(line, " \n");
    if (command == NULL) continue;
    memset(numbers, 0, sizeof numbers);
    for (char *word = strtok(NULL, " \n"); word != NULL && found < MAX_VALUES; word = strtok(NULL, " \n"))
      numbers[found++] = (int)strtol(word, NULL, 0);
    carry_out(command, found, numbers);
  }
  modbus_close(bus);
  modbus_free(bus);
  return 0;
}
