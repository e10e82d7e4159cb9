import { exceptionCheck } from './exception.js';

/** Exception 5 to every asking of a question. */
export const exception5 = exceptionCheck({
  code: 5,
  name: 'acknowledge',
  isPassing: true,
  matters: 'The device works on it, and has no time for a client that asks in a loop.',
  source: 'Application Protocol V1.1b3, 7: the client polls until the program is complete',
});
