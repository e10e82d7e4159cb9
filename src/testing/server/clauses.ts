/* The documents whose clauses the checks cite. The names are short because each check cites one. */

/** Modbus Application Protocol Specification. */
export const A = 'Application Protocol V1.1b3';
/** Modbus over Serial Line Specification and Implementation Guide. */
export const SERIAL = 'Serial Line V1.02';
/** Modbus Messaging on TCP/IP Implementation Guide. */
export const TCP = 'Messaging on TCP/IP V1.0b';
/** No document requires it. */
export const ROBUSTNESS = 'robustness (no clause)';
