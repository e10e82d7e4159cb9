import { exceptionCheck } from './exception.js';

/** Exception 1 to every asking of a question. */
export const exception1 = exceptionCheck({
  code: 1,
  name: 'illegal function',
  matters:
    'The device does not learn the function by being asked again, and a client that tries without end takes the line from all others.',
  source: 'Application Protocol V1.1b3, 7',
});
