/** So many addresses of the loopback, from 127.1.0.1 on: Linux has all of 127.0.0.0/8. */
export const hostsOf = (count) =>
  Array.from({ length: count }, (_, i) => `127.1.${(i + 1) >> 8}.${(i + 1) & 0xff}`);
