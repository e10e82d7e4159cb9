import type { FastifyPluginCallback } from 'fastify';
import type { TrafficFileDefinition } from '../../document/configuration.js';
import type { LinkPart, LinkSide } from '../mqtt/part.js';
import type { ApiContext } from './desk.js';
import type { Routes } from './v1/route.js';

/** The configuration keys that start something in an extension. */
export interface StartKeys {
  readonly trafficFile: TrafficFileDefinition | undefined;
}

/** What an extension does at the desk. It does nothing until it gets a request or is started. */
export interface ExtensionPart {
  /** Routes of `/api/v1`, by their tags in the document. */
  readonly routes?: Readonly<Partial<Record<'devices' | 'program' | 'traffic', Routes>>>;
  /** Separate routes, by their common path prefix. */
  readonly plugins?: Readonly<Record<`/${string}`, FastifyPluginCallback>>;
  /** Joins the link to the broker; undefined if it does not use the link. */
  joinLink?(link: LinkSide): LinkPart | undefined | Promise<LinkPart | undefined>;
  /** Starts what the configuration asks for. @returns a sentence if that fails; undefined if all is well */
  start?(keys: StartKeys): Promise<string | undefined>;
  stop?(): Promise<void>;
}

/** Makes an extension's part for a desk. */
export type AtDesk = (desk: ApiContext) => ExtensionPart;

/** Starts all parts, until one of them fails. @returns why it failed */
export async function startParts(
  parts: readonly ExtensionPart[],
  keys: StartKeys,
): Promise<string | undefined> {
  for (const part of parts) {
    const problem = await part.start?.(keys);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export async function stopParts(parts: readonly ExtensionPart[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop?.()));
}
