/** What a check says of itself, with a text that a page has to escape. */
export const ABOUT = {
  group: 'time',
  does: 'Waits.',
  matters: 'It <does>.',
  rule: 'Passes.',
  fix: 'Mend it.',
  source: 'nobody',
};
