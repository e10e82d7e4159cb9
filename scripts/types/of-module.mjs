import { relative } from 'node:path';
import { API, SignatureKind, SymbolFlags, TypeFlags } from 'typescript/unstable/sync';

/** @import { Checker, Signature, Symbol as Named, Type } from 'typescript/unstable/sync' */

/** Prints types without shortening them (`NodeBuilderFlags.NoTruncation`). */
const WHOLE = 1;
/** The files that declare types which need no import: the language's own, and those that Node shares with browsers. */
const GLOBAL = /\/(lib\.[\w.]*\.d\.ts|@types\/node\/web-globals\/\w+\.d\.ts)$/;
const STRUCTURED = TypeFlags.Object | TypeFlags.Intersection;

/**
 * Declares each type and function that a module exports, in alphabetical order. Types of the module's own
 * project and of packages are written out, so the declarations import nothing, and do not change if a file
 * moves or a type that is not exported is renamed. Private members are left out.
 * @param {string} module its absolute path
 * @param {string} configuration the absolute path of the `tsconfig.json` that includes the module
 * @param {readonly string[]} elsewhere names of types that are declared elsewhere
 */
export function typesOfModule(module, configuration, elsewhere) {
  const api = new API({ cwd: process.cwd() });
  try {
    const [project] = api.updateSnapshot({ openProjects: [configuration] }).getProjects();
    const file = project?.program.getSourceFile(module);
    const symbol = file && project?.checker.getSymbolAtLocation(file);
    if (!project || !symbol) throw new Error(`${configuration} has no module ${module}`);
    return new Writer(project.checker).module(symbol, elsewhere);
  } finally {
    api.close();
  }
}

class Writer {
  /** @type {Checker} */
  #checker;
  /**
   * The exported types by their number in the compiler.
   * @type {Map<number, string>}
   */
  #names = new Map();

  /** @param {Checker} checker */
  constructor(checker) {
    this.#checker = checker;
  }

  /**
   * @param {Named} module
   * @param {readonly string[]} elsewhere
   */
  module(module, elsewhere) {
    const exported = this.#checker
      .getExportsOfModule(module)
      .map((each) => {
        const symbol = each.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(each) : each;
        const isType = (symbol.flags & SymbolFlags.Type) !== 0;
        const type = isType ? this.#checker.getDeclaredTypeOfSymbol(symbol) : this.#typeOf(symbol);
        return { name: each.name, symbol, isType, type };
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const { name, isType, type } of exported) if (isType) this.#names.set(type.id, name);
    return exported
      .filter(({ name }) => !elsewhere.includes(name))
      .map(({ name, symbol, isType, type }) => {
        const [call] = isType ? [] : this.#checker.getSignaturesOfType(type, SignatureKind.Call);
        const declared = call
          ? `declare function ${name}${this.#signature(call, ':', [])}`
          : `type ${name} = ${this.#definition(type, [])}`;
        return `${this.#comment(symbol, '')}export ${declared};\n`;
      })
      .join('\n');
  }

  /** @param {Named} symbol */
  #typeOf(symbol) {
    const type = this.#checker.getTypeOfSymbol(symbol);
    if (!type) throw new Error(`${symbol.name} has no type`);
    return type;
  }

  /**
   * @param {Type} type
   * @param {readonly number[]} around the types that contain this one, outermost first
   * @returns {string}
   */
  #use(type, around) {
    const name = this.#names.get(type.id);
    if (name !== undefined) return name;
    if (around.includes(type.id)) throw new Error('a type that contains itself must be exported by name');
    return this.#definition(type, around);
  }

  /**
   * @param {Type} type
   * @param {readonly number[]} around
   */
  #definition(type, around) {
    if (type.isUnionType()) return this.#union(type.getTypes(), around);
    if (!(type.flags & STRUCTURED)) return this.#checker.typeToString(type, undefined, WHOLE);
    return this.#foreign(type, around) ?? this.#structure(type, [...around, type.id]);
  }

  /**
   * @param {readonly Type[]} types
   * @param {readonly number[]} around
   */
  #union(types, around) {
    const written = types.map((each) => this.#use(each, around));
    const isBoolean = written.includes('true') && written.includes('false');
    const rest = isBoolean ? written.filter((each) => each !== 'true' && each !== 'false') : written;
    const all = rest.map((each) => (each.includes('=>') && !each.startsWith('{') ? `(${each})` : each));
    return [...new Set(isBoolean ? [...all, 'boolean'] : all)].sort().join(' | ');
  }

  /**
   * A type that the language, Node or a package names; undefined for any other.
   * @param {Type} type
   * @param {readonly number[]} around
   */
  #foreign(type, around) {
    const symbol = type.getSymbol();
    const isTuple = this.#checker.isTupleType(type);
    const isNamed = symbol && (symbol.flags & (SymbolFlags.Class | SymbolFlags.Interface)) !== 0;
    const path = String(symbol?.declarations[0]?.path ?? '');
    if (!isTuple && (!isNamed || relative(process.cwd(), path).startsWith('src/'))) return undefined;
    if (!isTuple && !GLOBAL.test(path))
      throw new Error(`${symbol?.name} comes from ${path}, which can't be written as a declaration`);
    if (!type.isTypeReference()) return symbol?.name;
    const of = this.#checker.getTypeArguments(type).map((each) => this.#use(each, around));
    if (isTuple) return `[${of.join(', ')}]`;
    // With its default type argument, because it has none before TypeScript 5.7.
    if (symbol?.name === 'Uint8Array') return symbol.name;
    return of.length === 0 ? symbol?.name : `${symbol?.name}<${of.join(', ')}>`;
  }

  /**
   * @param {Type} type
   * @param {readonly number[]} around
   */
  #structure(type, around) {
    const indent = '  '.repeat(around.length);
    const calls = this.#checker.getSignaturesOfType(type, SignatureKind.Call);
    const keys = this.#checker
      .getIndexInfosOfType(type)
      .map((each) => `[key: ${this.#use(each.keyType, around)}]: ${this.#use(each.valueType, around)}`);
    const members = this.#checker
      .getPropertiesOfType(type)
      .filter(({ name }) => !name.includes('#'))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((each) => {
        const isReadonly = isConstant(each) || declaredWith(each, (node) => /^readonly\b/.test(node));
        const isOptional = (each.flags & SymbolFlags.Optional) !== 0;
        const written = this.#use(this.#typeOf(each), around);
        const comment = this.#comment(each, indent).trimStart();
        return `${comment}${comment && indent}${isReadonly ? 'readonly ' : ''}${each.name}${isOptional ? '?' : ''}: ${written}`;
      });
    const [call] = calls;
    if (call && calls.length === 1 && keys.length + members.length === 0)
      return this.#signature(call, ' =>', around.slice(0, -1));
    const lines = [...calls.map((each) => this.#signature(each, ':', around)), ...keys, ...members];
    return `{\n${lines.map((line) => `${indent}${line};\n`).join('')}${indent.slice(2)}}`;
  }

  /**
   * @param {Signature} signature
   * @param {string} arrow
   * @param {readonly number[]} around
   */
  #signature(signature, arrow, around) {
    const parameters = signature.getParameters().map((each) => {
      const isOptional = declaredWith(each, (node) => /^[^:]*\?|=(?!>)/.test(node.replace(/^\{[^}]*\}/, '')));
      const name = /^\w+$/.test(each.name) && !each.name.startsWith('__') ? each.name : 'options';
      return `${name}${isOptional ? '?' : ''}: ${this.#use(this.#typeOf(each), around)}`;
    });
    const result = this.#checker.getReturnTypeOfSignature(signature);
    return `(${parameters.join(', ')})${arrow} ${result ? this.#use(result, around) : 'unknown'}`;
  }

  /**
   * Formats the source comment on a name as a comment.
   * @param {Named} symbol
   * @param {string} indent
   */
  #comment(symbol, indent) {
    const path = String(symbol.declarations[0]?.path ?? '');
    if (!relative(process.cwd(), path).startsWith('src/')) return '';
    const tags = this.#checker
      .getJsDocTagsOfSymbol(symbol)
      .map(({ name, text }) => `@${name} ${text ?? ''}`.trimEnd());
    const lines = [this.#checker.getDocumentationCommentOfSymbol(symbol), ...tags]
      .filter((each) => each !== '')
      .flatMap((each) => each.split('\n'));
    if (lines.length === 0) return '';
    if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
    return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
  }
}

/** @param {Named} symbol */
function isConstant({ flags }) {
  return (flags & SymbolFlags.GetAccessor) !== 0 && (flags & SymbolFlags.SetAccessor) === 0;
}

/**
 * Whether the text of a declaration meets a condition.
 * @param {Named} symbol
 * @param {(text: string) => boolean} isMeant
 */
function declaredWith(symbol, isMeant) {
  const node = symbol.valueDeclaration?.resolve();
  return node !== undefined && isMeant(node.getText());
}
