/**
 * Says that no register is at an address.
 * @param where the number of the address, or the table and the number
 */
export function notDefined(where: number | string): string {
  return `${where} is not defined`;
}
