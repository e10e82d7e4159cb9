import type { JsonSchema } from '../../../common/schema/written-as.js';
import { isOpen } from '../access/access.js';
import { Components } from '../schema-json.js';
import type { Operation } from './operation.js';
import { type MediaType, media, type Response, type ResponseReference, Responses } from './responses.js';

/** The tags of operations, in the order of the document. Add a line here for a new tag. */
export const TAGS = [
  { name: 'lines', description: 'Serial ports and sockets: their state and their settings.' },
  { name: 'devices', description: 'Simulated devices: their values, signals, power and clocks.' },
  { name: 'faults', description: 'Fault rules, which spoil replies on purpose.' },
  { name: 'catalogue', description: 'Known misbehaviour of real devices, to switch on and off.' },
  { name: 'traffic', description: 'Traffic on the lines.' },
  {
    name: 'runs',
    description: 'Scenarios that run on the lines, tests of their clients, fuzz runs, and tests of servers.',
  },
  { name: 'access', description: 'Browser login.' },
  { name: 'program', description: 'The program itself and its machine.' },
  { name: 'pymodbus', description: 'The interface of pymodbus.simulator.' },
] as const;

/** The parts of an OpenAPI 3.1 document that this interface uses (https://spec.openapis.org/oas/v3.1.1). */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
    readonly contact: { readonly name: string };
  };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Alternative ways to authenticate; empty if no token is needed. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, Response | ResponseReference>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

const DESCRIPTION = `
Control of modbus-sim, a Modbus server simulator. \`/api/v1\` is its own interface. \`/restapi\` is the interface of
pymodbus.simulator, which answers mistakes with status 200 and \`"result": "error"\`.

Bodies are JSON. Every path that has GET also has HEAD. Tokens are needed only if the configuration defines some.
`.trim();

const SECURITY_SCHEMES = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'A configured token: `token`, or one of `readTokens`.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'modbus-sim-8080',
    description: 'The session cookie that `/api/v1/session` sets at login. Its name ends with the REST port.',
  },
};

/** Describes operations as an OpenAPI document. */
export function openApiDocument(operations: readonly Operation[], version: string): OpenApiDocument {
  const components = new Components();
  const responses = new Responses(components);
  const paths: Record<string, Record<string, DescribedOperation>> = {};
  for (const operation of operations) {
    paths[operation.path] ??= {};
    (paths[operation.path] as Record<string, DescribedOperation>)[operation.method] = describe(
      operation,
      components,
      responses,
    );
  }
  return {
    openapi: '3.1.1',
    info: {
      ...{ title: 'modbus-sim', version, description: DESCRIPTION },
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'the maintainers of modbus-sim' },
    },
    servers: [{ url: '/' }],
    tags: TAGS,
    paths,
    components: {
      schemas: components.schemas,
      responses: responses.common,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function describe(operation: Operation, components: Components, responses: Responses): DescribedOperation {
  const { method, path, schema } = operation;
  const { summary = '', description = '', tags = [] } = schema;
  const body = schema.describedBody ?? schema.body ?? schema.checkedBody;
  const bodies = {
    'application/json': body,
    'application/yaml': schema.yamlBody,
    'application/octet-stream': schema.bytesBody,
  };
  return {
    operationId: idOf(operation),
    summary,
    description,
    tags,
    security: isOpen(method.toUpperCase(), path) ? [] : [{ token: [] }, { session: [] }],
    parameters: [
      ...parametersIn('path', schema.params && components.convert(schema.params, 'input')),
      ...parametersIn('query', schema.querystring && components.convert(schema.querystring, 'input')),
      ...parametersIn('header', schema.headers && components.convert(schema.headers, 'input')),
    ],
    ...((body ?? schema.bytesBody) && {
      requestBody: {
        required: !body?.safeParse(undefined).success,
        content: Object.fromEntries(
          Object.entries(bodies).flatMap(([type, each]) =>
            each ? [[type, media(components.convert(each, 'input'), components)]] : [],
          ),
        ),
      },
    }),
    responses: responses.of(operation),
  };
}

/** The identifier of an operation: `postLinesNameStart` for `POST /api/v1/lines/{name}/start`. */
function idOf({ method, path }: Operation): string {
  const words = path.replace('/api/v1', '').match(/[A-Za-z0-9]+/g) ?? [];
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function parametersIn(location: Parameter['in'], schema: JsonSchema | undefined): Parameter[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = property as JsonSchema;
    return {
      name,
      in: location,
      required: location === 'path' || (schema?.required ?? []).includes(name),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}
