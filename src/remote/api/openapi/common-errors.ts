import type { Code } from '../../../simulator/commands/refusal.js';
import { isOpen } from '../access/access.js';
import type { Operation } from './operation.js';

/** An error of HTTP or of the rules of access, which any route may have. */
export interface CommonError {
  readonly code: Code;
  readonly description: string;
  /** The path in the body of the example. */
  readonly path: string;
  readonly message: string;
  /** Headers of the answer, each with its description. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Set if the error is sent before the path is known; it then has the body of /restapi everywhere. */
  readonly isBeforeRouting?: true;
}

const OF_EVERY_REQUEST: readonly CommonError[] = [
  {
    code: 'request.invalid',
    description:
      'The request has a mistake: no Host, a body that is not as expected, a parameter that does not fit.',
    path: 'Host',
    message: 'missing, expected a name of this machine',
  },
  {
    code: 'access.read_only',
    description: 'A page of another site sent the request, or a read-only token tried to change something.',
    path: 'method',
    message: 'a read-only token is for GET and HEAD alone',
  },
  {
    code: 'request.timeout',
    description: 'The request did not arrive completely within 10 s.',
    path: '',
    message: 'expected the whole request within 10 s',
    isBeforeRouting: true,
  },
  {
    code: 'request.host',
    description: 'The Host of the request is no name of this machine.',
    path: 'Host',
    message: 'not a name of this machine',
  },
  {
    code: 'request.header_too_long',
    description: 'The header of the request is too long.',
    path: '',
    message: 'the header of the request is too long',
    isBeforeRouting: true,
  },
  {
    code: 'request.failed',
    description: 'A mistake of the simulator; its log has the reason.',
    path: '',
    message: 'internal error, see the log',
  },
];

const WITHOUT_TOKEN: readonly CommonError[] = [
  {
    code: 'access.token',
    description: 'A token is configured, and the request has none or a wrong one.',
    path: 'Authorization',
    message: 'expected Bearer and the token of the configuration',
    headers: { 'WWW-Authenticate': 'How to authenticate: `Bearer`.' },
  },
  {
    code: 'access.too_many_attempts',
    description: 'More than 10 wrong tokens came from this address within a minute.',
    path: 'Authorization',
    message: 'more than 10 wrong tokens within 60 s from this address',
    headers: { 'Retry-After': 'Seconds until wrong tokens are answered with 401 again.' },
  },
];

const READING: readonly CommonError[] = [
  {
    code: 'readers.too_many',
    description: 'As many readers as are allowed are connected, or as many long lists are being read.',
    path: '',
    message: 'expected at most 128 long lists at a time, and so many are being read',
  },
];

const WITH_BODY: readonly CommonError[] = [
  {
    code: 'request.too_long',
    description: 'The body has more than 256 KiB, or more than 4,096 names and values.',
    path: '',
    message: 'body: expected at most 262144 bytes',
  },
  {
    code: 'request.media_type',
    description: 'The content type is not `application/json`.',
    path: '',
    message: 'content-type: expected application/json',
  },
];

/** The errors that an operation may have besides those of its route. */
export function commonErrors({ method, path }: Operation): readonly CommonError[] {
  return [
    ...OF_EVERY_REQUEST,
    ...(isOpen(method.toUpperCase(), path) ? [] : WITHOUT_TOKEN),
    ...(method === 'get' ? READING : WITH_BODY),
  ];
}
