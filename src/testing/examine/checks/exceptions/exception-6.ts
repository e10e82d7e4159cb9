import { exceptionCheck } from './exception.js';

/** Exception 6 to every asking of a question. */
export const exception6 = exceptionCheck({
  code: 6,
  name: 'server device busy',
  isPassing: true,
  matters:
    'The device is busy, and a client that asks in a loop keeps it busy; one that records the answer as 0 shows a wrong value.',
  source:
    'Application Protocol V1.1b3, 7: the client repeats the request later; home-assistant issue 51103: busy recorded as 0',
});
