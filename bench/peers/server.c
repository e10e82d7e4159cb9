/* A Modbus TCP server of libmodbus for any number of clients with select(2); prints its port. For bench/tcp.mjs. */
#include <arpa/inet.h>
#include <modbus.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
  modbus_t *bus = modbus_new_tcp("127.0.0.1", 0);
  modbus_mapping_t *registers = modbus_mapping_new(0, 0, 10, 0);
  int server = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bus == NULL || registers == NULL || bind(server, (struct sockaddr *)&address, size) < 0 ||
      listen(server, 64) < 0 || getsockname(server, (struct sockaddr *)&address, &size) < 0) {
    perror("server");
    return 1;
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);

  fd_set known;
  FD_ZERO(&known);
  FD_SET(server, &known);
  int highest = server;
  for (;;) {
    fd_set ready = known;
    if (select(highest + 1, &ready, NULL, NULL, NULL) < 0) return 1;
    for (int fd = 0; fd <= highest; fd++) {
      if (!FD_ISSET(fd, &ready)) continue;
      if (fd == server) {
        int client = accept(server, NULL, NULL), on = 1;
        if (client < 0) continue;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        FD_SET(client, &known);
        if (client > highest) highest = client;
        continue;
      }
      uint8_t request[MODBUS_TCP_MAX_ADU_LENGTH];
      modbus_set_socket(bus, fd);
      int length = modbus_receive(bus, request);
      if (length > 0) modbus_reply(bus, request, length, registers);
      if (length < 0) {
        close(fd);
        FD_CLR(fd, &known);
      }
    }
  }
}
