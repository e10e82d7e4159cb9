import { exceptionCheck } from './exception.js';

/** Exception 2 to every asking of a question. */
export const exception2 = exceptionCheck({
  code: 2,
  name: 'illegal data address',
  matters:
    'The address does not become legal by asking again, and a client that tries without end takes the line from all others.',
  source: 'Application Protocol V1.1b3, 7',
});
