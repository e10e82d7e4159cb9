/** The program under test, as a scenario names it. */
export interface DutDefinition {
  /** A command line for the shell, with endpoints such as `{lines.bus.path}` not yet filled in. */
  readonly command: string;
  /** Text in the output of the program that says that it is ready; absent when it is ready at once. */
  readonly ready: string | undefined;
  /** How long the program may take to say so, in ms. */
  readonly readyWithin: number;
}
