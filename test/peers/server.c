/* A server of libmodbus with 200 items in each table: `server tcp` prints its port, `server rtu PATH` ready; then the value of each write of one register. */
#include <modbus.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int main(int count, char **words) {
  int is_tcp = count > 1 && strcmp(words[1], "tcp") == 0;
  modbus_t *bus =
      is_tcp ? modbus_new_tcp("127.0.0.1", 0) : modbus_new_rtu(count > 2 ? words[2] : "", 115200, 'E', 8, 1);
  modbus_mapping_t *tables = modbus_mapping_new(200, 200, 200, 200);
  if (bus == NULL || tables == NULL) return 1;
  for (int i = 0; i < 200; i++) {
    tables->tab_bits[i] = i % 3 == 0;
    tables->tab_input_bits[i] = i % 5 == 0;
    tables->tab_input_registers[i] = 1000 + i;
    tables->tab_registers[i] = 2000 + i;
  }
  int server = -1;
  if (is_tcp) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int on = 1;
    server = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (count > 2) sscanf(words[2], "%hu", &address.sin_port), address.sin_port = htons(address.sin_port);
    if (bind(server, (struct sockaddr *)&address, size) < 0 || listen(server, 4) < 0 ||
        getsockname(server, (struct sockaddr *)&address, &size) < 0) {
      perror("server");
      return 1;
    }
    printf("%d\n", ntohs(address.sin_port));
  } else {
    modbus_set_slave(bus, 5);
    if (modbus_connect(bus) < 0) {
      perror("server");
      return 1;
    }
    printf("ready\n");
  }
  fflush(stdout);
  for (;;) {
    if (is_tcp && modbus_tcp_accept(bus, &server) < 0) return 1;
    for (;;) {
      uint8_t request[MODBUS_MAX_ADU_LENGTH];
      int length = modbus_receive(bus, request);
      if (length < 0) {
        if (is_tcp) break;
        continue;
      }
      int head = modbus_get_header_length(bus);
      if (length > head + 4 && request[head] == 6) {
        printf("%d\n", request[head + 3] << 8 | request[head + 4]);
        fflush(stdout);
      }
      if (length > 0) modbus_reply(bus, request, length, tables);
    }
    modbus_close(bus);
  }
}
