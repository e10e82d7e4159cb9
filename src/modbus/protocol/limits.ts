/** Sizes and quantities of Application Protocol V1.1b3, 4.1 and 6.1 to 6.17. */

/** How many addresses a table has: 0 to 65535. */
export const ADDRESS_SPACE = 0x10000;

export const MAX_PDU_LENGTH = 253;

export const MAX_BITS_READ = 2000;
export const MAX_REGISTERS_READ = 125;
export const MAX_BITS_WRITTEN = 1968;
export const MAX_REGISTERS_WRITTEN = 123;
/**
 * Function 23 writes fewer registers than function 16, because its request carries the read range, too
 * (6.17).
 */
export const MAX_REGISTERS_WRITTEN_BY_READ_WRITE = 121;
