/** A column of a report table. */
export const column = (name, type, unit, description) => ({ name, type, unit, description });
