import { exceptionCheck } from './exception.js';

/** Exception 3 to every asking of a question. */
export const exception3 = exceptionCheck({
  code: 3,
  name: 'illegal data value',
  matters:
    'The question does not become right by asking it again, and a client that tries without end takes the line from all others.',
  source: 'Application Protocol V1.1b3, 7',
});
