import { exceptionCheck } from './exception.js';

/** Exception 4 to every asking of a question. */
export const exception4 = exceptionCheck({
  code: 4,
  name: 'server device failure',
  matters:
    'A failed device may come back, but not within milliseconds; a client that gives it up for ever has to be restarted by hand.',
  source: 'Application Protocol V1.1b3, 7',
});
