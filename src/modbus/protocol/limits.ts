/*
 * Sizes and quantities, from Application Protocol V1.1b3, 4.1 and 6.1 to 6.17, unless a comment names another
 * document.
 */

/** The number of addresses in a table: 0 to 65535. */
export const ADDRESS_SPACE = 0x10000;
/** The largest value of a register or of a two-byte field. */
export const MAX_WORD = 0xffff;

/** The highest unit identifier on a serial line (Serial Line V1.02, 2.2). */
export const HIGHEST_UNIT = 247;

export const MAX_PDU_LENGTH = 253;
/** The length of an MBAP header in bytes (Messaging on TCP/IP V1.0b, 3.1.3). */
export const MBAP_LENGTH = 7;
/** The shortest RTU ADU: unit identifier, function code and CRC (Serial Line V1.02, 2.5.1). */
export const MIN_RTU_LENGTH = 4;
/** The colon that begins a message of Modbus ASCII (Serial Line V1.02, 2.5.2). */
export const COLON = 0x3a;

export const MAX_BITS_READ = 2000;
export const MAX_REGISTERS_READ = 125;
export const MAX_BITS_WRITTEN = 1968;
export const MAX_REGISTERS_WRITTEN = 123;
/** Fewer than function 16 writes, because the request also carries the range to read (6.17). */
export const MAX_REGISTERS_WRITTEN_BY_READ_WRITE = 121;
