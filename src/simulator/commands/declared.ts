import { z } from 'zod';
import { section } from '../../common/schema/parts.js';
import { done, type Outcome } from './refusal.js';

/**
 * A command or a query: all that is known of it but what runs. REST, MQTT and the clients of both are made
 * from it, so it is loaded by those who ask. The function that carries it out is in a file that only the side
 * of the lines loads.
 */
export type Declared = DeclaredCommand & (DeclaredRoute | { readonly rest?: undefined });

interface DeclaredCommand {
  /**
   * A query changes nothing. A list is a query whose answer may be long: its parts are made only as fast as
   * they are read. Without it, the command may change something.
   */
  readonly kind?: 'query' | 'list';
  /** What the command is for, as an order. */
  readonly summary: string;
  /** What the command is about. REST has these parts in the path, in this order. */
  readonly of?: z.core.$ZodLooseShape;
  /** The rest of the input: the body of REST, or its query. The command itself checks nested input. */
  readonly sent?: z.ZodType;
  /**
   * The key under which the command gets the rest; without it, the keys of the rest stand beside the others.
   */
  readonly as?: string;
  /**
   * Converts the input to what the command gets instead, because the main thread does not read the catalogue.
   */
  readonly means?: (input: never) => Promise<Outcome<unknown>>;
  /** The parameters of the path as REST describes them. */
  readonly params?: z.ZodType;
}

/** A route of `/api/v1`. A command without one is for MQTT and for this program. */
export interface DeclaredRoute {
  readonly rest: RoutePath;
  readonly description: string;
  /** The schemas of the input, if REST has others than the command. */
  readonly schema?: SentSchemas;
  /** Most names and values in the body of REST, if it may have more than other bodies. */
  readonly maxParts?: number;
  /** The member of the answer that is the value of the command; absent if the value itself is the answer. */
  readonly member?: string;
  /** The list that is read after the command and is the member of the answer. */
  readonly list?: string;
  /** Schemas of answers by status; the first is that of a success. */
  readonly response: Answers;
}

/** A method and a path below `/api/v1`. */
export type RoutePath = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

/** Schemas of answers by status. */
export type Answers = Readonly<Record<number, z.ZodType | DescribedContent>>;

/** A body of an answer that is not plain JSON. */
export interface DescribedContent {
  readonly description?: string;
  /** Schemas by media type. */
  readonly content: Readonly<Record<string, { readonly schema: z.ZodType }>>;
}

/** Schemas of what a request sends. */
export interface SentSchemas {
  readonly querystring?: z.ZodType;
  readonly body?: z.ZodType;
  /**
   * The schema of a body that is checked here, although the route gets the body as it was sent, because the
   * side of the lines reads it again.
   */
  readonly checkedBody?: z.ZodType;
  /** What the document shows of a body, if it is checked by another schema, or by the simulator. */
  readonly describedBody?: z.ZodType;
  /** The schema of the same body as YAML, if the route accepts YAML. */
  readonly yamlBody?: z.ZodType;
  /** The schema of a body of bytes, which the route reads itself. */
  readonly bytesBody?: z.ZodType;
}

/** Commands and queries by their names. */
export type DeclaredCommands = Readonly<Record<string, Declared>>;

/** The input of a command as it was declared: what fits the schema, or what it means. */
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

/** The functions that carry out commands: one for each that is declared, and it takes what is declared. */
export type FunctionsOf<Commands extends DeclaredCommands> = {
  readonly [Name in keyof Commands]: (context: never, input: DeclaredInput<Commands[Name]>) => unknown;
};

/** Schemas, each made when it is first needed: making a schema takes longer than a check by it. */
const schemas = new WeakMap<Declared, z.ZodType>();

/** The whole input of a command or a query as one mapping. */
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

/** The input of the command itself, for an input that fits its schema. */
export async function meantBy({ means }: Declared, input: object): Promise<Outcome<unknown>> {
  return means ? means(input as never) : done(input);
}
