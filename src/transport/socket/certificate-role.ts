import { type BaseBlock, Constructed, fromBER, ObjectIdentifier, OctetString, Utf8String } from 'asn1js';

/** The X.509v3 extension that carries a role (MODBUS/TCP Security V2.1, 8.4). */
const ROLE_OID = '1.3.6.1.4.1.50316.802.1';
/** Context-specific tag of the extensions in a TBSCertificate (RFC 5280, 4.1). */
const EXTENSIONS_TAG = 3;
const CONTEXT_SPECIFIC = 3;

/**
 * The role in a DER certificate: the UTF8String of its role extension. Undefined when it has none, or one that is no
 * UTF8String.
 */
export function roleOf(certificate: Uint8Array): string | undefined {
  try {
    const [tbsCertificate] = children(fromBER(certificate).result);
    const extensions = children(tbsCertificate).find(
      ({ idBlock }) => idBlock.tagClass === CONTEXT_SPECIFIC && idBlock.tagNumber === EXTENSIONS_TAG,
    );
    for (const extension of children(children(extensions)[0])) {
      const [id, ...rest] = children(extension);
      if (id instanceof ObjectIdentifier && id.getValue() === ROLE_OID) return textOf(rest.at(-1));
    }
  } catch {
    // Bytes that the library chokes on are no role.
  }
  return undefined;
}

/** Between identifier and value there may be the mark "critical". */
function textOf(value: BaseBlock | undefined): string | undefined {
  if (!(value instanceof OctetString)) return undefined;
  const bytes = value.getValue();
  const { offset, result } = fromBER(bytes);
  return result instanceof Utf8String && offset === bytes.byteLength ? result.getValue() : undefined;
}

function children(block: BaseBlock | undefined): BaseBlock[] {
  return block instanceof Constructed ? block.valueBlock.value : [];
}
