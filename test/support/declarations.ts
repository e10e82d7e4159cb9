import { relative } from 'node:path';
import {
  API,
  type Checker,
  type Symbol as Named,
  type NodeHandle,
  type Signature,
  SignatureKind,
  SymbolFlags,
  type Type,
  TypeFlags,
} from 'typescript/unstable/sync';

/** Types are printed without being shortened (`NodeBuilderFlags.NoTruncation`). */
const WHOLE = 1;
const STRUCTURED = TypeFlags.Object | TypeFlags.Intersection;

/**
 * Writes one paragraph for each name that a module exports, in alphabetical order. Types of the module's own project are
 * written out, so the text stays the same when a file moves or a type that is not exported gets another name. Private
 * members, names of parameters and comments are left out.
 * @param module the absolute path of the module
 * @param configuration the absolute path of the `tsconfig.json` that has the module
 */
export function declarationsOf(module: string, configuration: string): string {
  const api = new API({ cwd: process.cwd() });
  try {
    const [project] = api.updateSnapshot({ openProjects: [configuration] }).getProjects();
    const file = project?.program.getSourceFile(module);
    const symbol = file && project?.checker.getSymbolAtLocation(file);
    if (!project || !symbol) throw new Error(`${configuration} has no module ${module}`);
    return new Writer(project.checker).module(symbol);
  } finally {
    api.close();
  }
}

class Writer {
  readonly #checker: Checker;
  /** The exported types by their number in the compiler. */
  readonly #names = new Map<number, string>();

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  module(module: Named): string {
    const exported = this.#checker
      .getExportsOfModule(module)
      .map((each) => {
        const symbol = each.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(each) : each;
        const isType = (symbol.flags & SymbolFlags.Type) !== 0;
        const type = isType ? this.#checker.getDeclaredTypeOfSymbol(symbol) : this.#typeOf(symbol);
        return { name: each.name, isType, type };
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const { name, isType, type } of exported) if (isType) this.#names.set(type.id, name);
    return exported
      .map(
        ({ name, isType, type }) => `${isType ? 'type' : 'value'} ${name}: ${this.#definition(type, [])}\n`,
      )
      .join('\n');
  }

  #typeOf(symbol: Named): Type {
    const type = this.#checker.getTypeOfSymbol(symbol);
    if (!type) throw new Error(`${symbol.name} has no type`);
    return type;
  }

  /** @param around the types inside of which this one is written, the outermost first */
  #use(type: Type, around: readonly number[]): string {
    const depth = around.indexOf(type.id);
    if (depth >= 0) return `(the type ${around.length - depth} levels out)`;
    return this.#names.get(type.id) ?? this.#definition(type, around);
  }

  #definition(type: Type, around: readonly number[]): string {
    if (type.isUnionType()) return this.#union(type.getTypes(), around);
    if (!(type.flags & STRUCTURED)) return this.#checker.typeToString(type, undefined, WHOLE);
    return this.#foreign(type, around) ?? this.#structure(type, [...around, type.id]);
  }

  #union(types: readonly Type[], around: readonly number[]): string {
    const written = types.map((each) => this.#use(each, around));
    const isBoolean = written.includes('true') && written.includes('false');
    const rest = isBoolean ? written.filter((each) => each !== 'true' && each !== 'false') : written;
    const all = rest.map((each) => (each.includes('=>') ? `(${each})` : each));
    return [...new Set(isBoolean ? [...all, 'boolean'] : all)].sort().join(' | ');
  }

  /** A type that the language, Node or a package names; undefined for any other. */
  #foreign(type: Type, around: readonly number[]): string | undefined {
    const symbol = type.getSymbol();
    const isTuple = this.#checker.isTupleType(type);
    const isNamed = symbol && (symbol.flags & (SymbolFlags.Class | SymbolFlags.Interface)) !== 0;
    const path = String(symbol?.declarations[0]?.path ?? '');
    if (!isTuple && (!isNamed || relative(process.cwd(), path).startsWith('src/'))) return undefined;
    if (!type.isTypeReference()) return symbol?.name;
    const of = this.#checker.getTypeArguments(type).map((each) => this.#use(each, around));
    if (isTuple) return `[${of.join(', ')}]`;
    return of.length === 0 ? symbol?.name : `${symbol?.name}<${of.join(', ')}>`;
  }

  #structure(type: Type, around: readonly number[]): string {
    const calls = this.#checker
      .getSignaturesOfType(type, SignatureKind.Call)
      .map((each) => this.#signature(each, around));
    const keys = this.#checker
      .getIndexInfosOfType(type)
      .map((each) => `[${this.#use(each.keyType, around)}]: ${this.#use(each.valueType, around)}`);
    const members = this.#checker
      .getPropertiesOfType(type)
      .filter(({ name }) => !name.includes('#'))
      .map((each) => {
        const isReadonly = declaredWith(each, (node) => /^readonly\b/.test(node));
        const isOptional = (each.flags & SymbolFlags.Optional) !== 0;
        const written = this.#use(this.#typeOf(each), around);
        return {
          name: each.name,
          text: `${isReadonly ? 'readonly ' : ''}${each.name}${isOptional ? '?' : ''}: ${written}`,
        };
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ text }) => text);
    if (calls.length === 1 && keys.length + members.length === 0) return calls[0] as string;
    const lines = [...calls, ...keys, ...members];
    const indent = '  '.repeat(around.length - 1);
    return `{\n${lines.map((line) => `${indent}  ${line};\n`).join('')}${indent}}`;
  }

  #signature(signature: Signature, around: readonly number[]): string {
    const parameters = signature.getParameters().map((each) => {
      const isOptional = declaredWith(each, (node) => /^[^:]*\?|=(?!>)/.test(node.replace(/^\{[^}]*\}/, '')));
      return `${isOptional ? '?' : ''}${this.#use(this.#typeOf(each), around)}`;
    });
    const result = this.#checker.getReturnTypeOfSignature(signature);
    return `(${parameters.join(', ')}) => ${result ? this.#use(result, around) : 'unknown'}`;
  }
}

/** Whether the text of a declaration is like this. */
function declaredWith(symbol: Named, isMeant: (text: string) => boolean): boolean {
  const handle: NodeHandle | undefined = symbol.valueDeclaration;
  const node = handle?.resolve();
  return node !== undefined && isMeant(node.getText());
}
