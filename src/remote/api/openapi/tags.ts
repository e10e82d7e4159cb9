/** The tags of operations, in the order of the document. A new tag of a route needs a line here. */
export const TAGS = [
  { name: 'lines', description: 'Serial ports and sockets: how they are, and what they are to be.' },
  { name: 'devices', description: 'Simulated devices: their values, signals, supplies and clocks.' },
  { name: 'faults', description: 'Fault rules, which change replies on purpose.' },
  { name: 'catalogue', description: 'What real devices do wrong, to be switched on and off.' },
  { name: 'traffic', description: 'What has passed the lines.' },
  {
    name: 'tests',
    description:
      'Scenarios that run on the lines, examinations of their clients, and inspections of servers.',
  },
  { name: 'access', description: 'Log-in of browsers.' },
  { name: 'program', description: 'The program itself and its machine.' },
  { name: 'pymodbus', description: 'The interface of pymodbus.simulator.' },
] as const;
