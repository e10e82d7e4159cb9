import { z } from 'zod';
import { section } from '../../common/schema/parts.js';
import { done, type Outcome } from './refusal.js';

/**
 * A command or query: everything about it except its code. REST, MQTT and the clients of both are made from
 * it, so the side of the desk loads it. The function that carries it out is in a file that only the side of
 * the lines loads.
 */
export type Declared = DeclaredCommand & (DeclaredRoute | { readonly rest?: undefined });

interface DeclaredCommand {
  /**
   * A query changes nothing. A list is a query whose answer may be long: its parts are produced only as fast
   * as they are read. If absent, the command may change something.
   */
  readonly kind?: 'query' | 'list';
  /** What the command does, in the imperative. */
  readonly summary: string;
  /** What the command acts on. In REST these are parts of the path, in this order. */
  readonly of?: z.core.$ZodLooseShape;
  /** The rest of the input: the REST body or query. The command itself checks nested input. */
  readonly sent?: z.ZodType;
  /** The key under which the command receives the rest; without it, the keys of the rest are next to the others. */
  readonly as?: string;
  /** Converts the input into what the command receives instead, because the main thread does not read the catalogue. */
  readonly means?: (input: never) => Promise<Outcome<unknown>>;
  /** The path parameters as REST describes them. */
  readonly params?: z.ZodType;
}

/** A route of `/api/v1`. A command without a route is for MQTT and for this program. */
export interface DeclaredRoute {
  readonly rest: RoutePath;
  readonly description: string;
  /** The schemas of the input, if those of REST differ from the command's. */
  readonly schema?: SentSchemas;
  /** Maximum number of names and values in the REST body, if more than in other bodies. */
  readonly maxParts?: number;
  /** The member of the answer that contains the command's value; absent if the value itself is the answer. */
  readonly member?: string;
  /** The list that is read after the command and becomes the member of the answer. */
  readonly list?: string;
  /** Schemas of answers by status. The first is for success. */
  readonly response: Answers;
}

/** A method and a path below `/api/v1`. */
export type RoutePath = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

/** Schemas of answers by status. */
export type Answers = Readonly<Record<number, z.ZodType | DescribedContent>>;

/** A response body that is not plain JSON. */
export interface DescribedContent {
  readonly description?: string;
  /** Schemas by media type. */
  readonly content: Readonly<Record<string, { readonly schema: z.ZodType }>>;
}

/** Schemas of the parts of a request. */
export interface SentSchemas {
  readonly querystring?: z.ZodType;
  readonly body?: z.ZodType;
  /**
   * The schema that checks a body here. The route still gets the body as it was sent, because the side of the
   * lines reads it again.
   */
  readonly checkedBody?: z.ZodType;
  /** The schema of the body in the document, if the body is checked by another schema or by the simulator. */
  readonly describedBody?: z.ZodType;
  /** The schema of the same body as YAML, if the route accepts YAML. */
  readonly yamlBody?: z.ZodType;
  /** The schema of a binary body, which the route reads itself. */
  readonly bytesBody?: z.ZodType;
}

/** Commands and queries by name. */
export type DeclaredCommands = Readonly<Record<string, Declared>>;

/** The input of a command as declared: the type that its schema accepts, or the type that it is converted to. */
export type DeclaredInput<Each extends Declared> = Each extends {
  readonly means: (input: never) => Promise<Outcome<infer Meant>>;
}
  ? Meant
  : (Each extends { readonly of: infer Of extends z.core.$ZodLooseShape }
      ? z.output<z.ZodObject<Of>>
      : object) &
      (Each extends { readonly sent: infer Sent extends z.ZodType }
        ? Each extends { readonly as: infer Key extends string }
          ? Readonly<Record<Key, z.output<Sent>>>
          : z.output<Sent>
        : object);

/** The functions that carry out commands: one for each declared command, with the declared input. */
export type FunctionsOf<Commands extends DeclaredCommands> = {
  readonly [Name in keyof Commands]: (context: never, input: DeclaredInput<Commands[Name]>) => unknown;
};

/** Schemas, each created when it is first needed: creating a schema takes longer than a check with it. */
const schemas = new WeakMap<Declared, z.ZodType>();

/** The whole input of a command or query as one mapping. */
export function inputSchema(declared: Declared): z.ZodType {
  const known = schemas.get(declared);
  if (known) return known;
  const made = schemaOf(declared);
  schemas.set(declared, made);
  return made;
}

function schemaOf({ of = {}, sent, as }: Declared): z.ZodType {
  if (sent && as !== undefined) return section({ ...of, [as]: sent });
  if (!(sent instanceof z.ZodObject)) return section(of);
  return Object.keys(of).length === 0 ? sent : section({ ...of, ...sent.shape });
}

/** Converts an input that fits the schema into the input of the command itself. */
export async function meantBy({ means }: Declared, input: object): Promise<Outcome<unknown>> {
  return means ? means(input as never) : done(input);
}
