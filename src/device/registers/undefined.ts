/**
 * What is wrong with an address where no register is.
 * @param where its number, or the table and the number
 */
export function notDefined(where: number | string): string {
  return `${where} is not defined`;
}
