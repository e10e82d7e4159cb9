/**
 * Returns the message that an address has no register.
 * @param where the address, or the table and the address
 */
export function notDefined(where: number | string): string {
  return `${where} is not defined`;
}
