/** What the command line says about a file that is imported. */
export interface ImportExtras {
  /** The texts of packages of ESPHome, by the names of their files. */
  readonly packages?: readonly (readonly [file: string, text: string])[];
  /** Values of substitutions by name; they take precedence over those of the files. */
  readonly substitutions?: ReadonlyMap<string, string>;
  /** True when default values of a table are in the unit of the value, and not as it is stored. */
  readonly inUnits?: boolean;
}
