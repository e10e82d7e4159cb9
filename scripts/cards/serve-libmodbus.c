/*
 * serve-libmodbus PORT|PATH BAUD
 *
 * Serves one device with libmodbus as its manual shows it: a loop around modbus_receive and modbus_reply, one connection
 * at a time; unit 1 with 300 registers and 2100 bits in each table.
 */
#include <modbus.h>
#include <stdlib.h>
#include <unistd.h>

enum { BITS = 2100, REGISTERS = 300, UNIT = 1 };

int main(int count, char **words)
{
    if (count < 3) return 2;
    const int is_tcp = words[1][0] != '/';
    modbus_t *bus = is_tcp ? modbus_new_tcp("127.0.0.1", atoi(words[1]))
                           : modbus_new_rtu(words[1], atoi(words[2]), 'N', 8, 1);
    modbus_mapping_t *tables = modbus_mapping_new(BITS, BITS, REGISTERS, REGISTERS);
    if (!bus || !tables) return 1;
    for (int i = 0; i < BITS; i++) {
        tables->tab_bits[i] = i % 3 != 0;
        tables->tab_input_bits[i] = i % 3 != 1;
    }
    for (int i = 0; i < REGISTERS; i++) {
        tables->tab_registers[i] = 1000 + i;
        tables->tab_input_registers[i] = 2000 + i;
    }
    modbus_set_slave(bus, UNIT);
    int server = -1;
    if (is_tcp) {
        server = modbus_tcp_listen(bus, 1);
        if (server < 0) return 1;
    } else if (modbus_connect(bus) < 0)
        return 1;
    for (;;) {
        if (is_tcp && modbus_tcp_accept(bus, &server) < 0) return 1;
        for (;;) {
            uint8_t request[MODBUS_TCP_MAX_ADU_LENGTH];
            const int length = modbus_receive(bus, request);
            if (length > 0) modbus_reply(bus, request, length, tables);
            else if (length < 0 && is_tcp) break;
        }
        modbus_close(bus);
    }
}
