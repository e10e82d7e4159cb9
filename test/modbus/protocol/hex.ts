/** The bytes of a hex text as it stands in specifications and logs; blanks are only for the eye. */
export function bytesOf(hex: string): Uint8Array {
  const digits = hex.replaceAll(/\s/g, '');
  if (!/^([0-9a-f]{2})*$/i.test(digits)) throw new Error(`not whole bytes of hex: ${hex}`);
  return Uint8Array.from(Buffer.from(digits, 'hex'));
}

/** The bytes of a text, as hex. */
export function asciiHex(text: string): string {
  return hexOf(Buffer.from(text, 'latin1'));
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
