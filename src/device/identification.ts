import { concatBytes } from '../modbus/protocol/bytes.js';
import { FunctionCode } from '../modbus/protocol/function-code.js';
import { MAX_PDU_LENGTH } from '../modbus/protocol/limits.js';
import { READ_DEVICE_IDENTIFICATION } from '../modbus/protocol/request.js';

/** The objects of the device identification by identifier (Application Protocol V1.1b3, 6.21). */
export type IdentityObjects = ReadonlyMap<number, string>;

/** The names of the standard objects, in the order of their identifiers. */
export const IDENTITY_NAMES = [
  'vendorName',
  'productCode',
  'majorMinorRevision',
  'vendorUrl',
  'productName',
  'modelName',
  'userApplicationName',
] as const;

export type IdentityName = (typeof IDENTITY_NAMES)[number];

/** The defaults of the basic objects, which are mandatory. */
const BASIC_IDENTITY: Readonly<Partial<Record<IdentityName, string>>> = {
  vendorName: 'modbus-sim',
  productCode: 'simulator',
  majorMinorRevision: '1.0',
} as const;

/**
 * Returns the objects of a device: the defaults of the basic objects, overridden and extended by the given
 * objects.
 */
export function identityObjects(
  names: Readonly<Partial<Record<IdentityName, string>>> = {},
  extended: IdentityObjects = new Map(),
): IdentityObjects {
  const said: Readonly<Partial<Record<IdentityName, string>>> = { ...BASIC_IDENTITY, ...names };
  const named = IDENTITY_NAMES.flatMap((name, id): [number, string][] => {
    const text = said[name];
    return text === undefined ? [] : [[id, text]];
  });
  return new Map([...named, ...extended]);
}

/** The first identifier of the vendor-specific objects. */
export const FIRST_EXTENDED_OBJECT = 0x80;

const LAST_BASIC = 0x02;
const LAST_REGULAR = 0x7f;
const LAST_EXTENDED = 0xff;

const STREAM_AND_INDIVIDUAL_ACCESS = 0x80;

/** The number of bytes before the objects of the response, and before the text of an object. */
const HEAD_LENGTH = 7;
const OBJECT_HEAD_LENGTH = 2;

const INDIVIDUAL = 4;

/**
 * Returns the response to function 43/14. `access` 1, 2 or 3 streams the basic, regular or all objects
 * starting at `objectId`, as many as fit, with the identifier of the next object. `access` 4 reads one
 * object. Undefined means exception 02.
 */
export function readIdentification(
  objects: IdentityObjects,
  access: 1 | 2 | 3 | 4,
  objectId: number,
): Uint8Array | undefined {
  if (access === INDIVIDUAL) {
    const text = objects.get(objectId);
    return text === undefined ? undefined : response(objects, access, [[objectId, text]], undefined);
  }
  const last = [LAST_BASIC, LAST_REGULAR, LAST_EXTENDED][access - 1] as number;
  // "If the Object Id does not match any known object, the server responds as if object 0 were pointed out."
  const first = objects.has(objectId) && objectId <= last ? objectId : 0;
  const wanted = [...objects].filter(([id]) => id >= first && id <= last).sort(([a], [b]) => a - b);
  const fitting = countFitting(wanted);
  return response(objects, access, wanted.slice(0, fitting), wanted[fitting]?.[0]);
}

function countFitting(wanted: readonly (readonly [number, string])[]): number {
  let length = HEAD_LENGTH;
  const tooMany = wanted.findIndex(([, text]) => {
    length += OBJECT_HEAD_LENGTH + text.length;
    return length > MAX_PDU_LENGTH;
  });
  return tooMany < 0 ? wanted.length : tooMany;
}

function response(
  objects: IdentityObjects,
  access: number,
  sent: readonly (readonly [number, string])[],
  next: number | undefined,
): Uint8Array {
  const moreFollows = next === undefined ? 0 : 0xff;
  const head = [
    FunctionCode.encapsulatedInterfaceTransport,
    READ_DEVICE_IDENTIFICATION,
    access,
    conformity(objects),
    moreFollows,
    next ?? 0,
    sent.length,
  ];
  return concatBytes(head, ...sent.map(([id, text]) => [id, text.length, ...Buffer.from(text, 'latin1')]));
}

/**
 * Returns the conformity level: the highest of the three categories that the device has, for stream and
 * single access.
 */
function conformity(objects: IdentityObjects): number {
  const highest = Math.max(...objects.keys());
  const category = highest > LAST_REGULAR ? 3 : highest > LAST_BASIC ? 2 : 1;
  return STREAM_AND_INDIVIDUAL_ACCESS | category;
}
