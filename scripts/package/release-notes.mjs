/* The documents of a release: the changes, and the list of components. */

/**
 * The section of a version in CHANGELOG.md, without its heading; undefined if it is missing or empty.
 * @param {string} version
 * @param {string} changelog
 */
export function changesOf(version, changelog) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/\s/, 1)[0] === version);
  const changes = section?.slice(section.indexOf('\n')).trim();
  return changes ? `${changes}\n` : undefined;
}

/**
 * @typedef {object} Component
 * @property {string} bom-ref
 * @property {string} name
 * @property {string} [scope]
 * @property {{name: string, value: string}[]} properties
 */

/**
 * @typedef {object} Bom A list of components, CycloneDX 1.5 as `npm sbom` writes it.
 * @property {string} [serialNumber]
 * @property {{timestamp: string, component: {name: string}}} metadata
 * @property {Component[]} components
 * @property {{ref: string, dependsOn: string[]}[]} dependencies
 */

const DEVELOPMENT = 'cdx:npm:package:development';

/**
 * Selects the shipped components from everything that package-lock.json lists: the packages that are
 * installed with the program, and those in its bundle and in the console's. The same commit gives the same
 * list, so it has no serial number of its own.
 * @param {Bom} everything
 * @param {string} bundled The licences that accompany the bundles: each begins with `==== node_modules/NAME
 * ====`.
 * @param {Date} time Of the commit.
 */
export function shipped(everything, bundled, time) {
  const inBundle = new Set(
    [...bundled.matchAll(/^==== (?:\S+\/)?node_modules\/(\S+) ====$/gm)].map(([, name]) => name),
  );
  const { serialNumber: _, ...bom } = everything;
  const components = bom.components
    .map((component) => {
      if (!inBundle.has(component.name)) return component;
      const properties = component.properties.filter(({ name }) => name !== DEVELOPMENT);
      return { ...component, scope: 'required', properties };
    })
    .filter(({ properties }) => !properties.some(({ name }) => name === DEVELOPMENT));
  const own = bom.dependencies.filter(({ ref }) => ref.startsWith('modbus-sim@')).map(({ ref }) => ref);
  const kept = new Set([...own, ...components.map((component) => component['bom-ref'])]);
  return {
    ...bom,
    metadata: {
      ...bom.metadata,
      timestamp: time.toISOString(),
      component: { ...bom.metadata.component, name: 'modbus-sim' },
    },
    components,
    dependencies: bom.dependencies
      .filter(({ ref }) => kept.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((name) => kept.has(name)) })),
  };
}
