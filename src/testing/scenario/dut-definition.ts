/** The program under test, as a scenario names it. */
export interface DutDefinition {
  /** A command line for the shell, with endpoints such as `{lines.bus.path}` not yet filled in. */
  readonly command: string;
  /** Text that the program prints when it is ready; absent when it is ready at once. */
  readonly ready: string | undefined;
  /** How long the program may take to print `ready`, in ms. */
  readonly readyWithin: number;
}
