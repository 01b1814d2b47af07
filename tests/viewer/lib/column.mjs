/** Roles of the fixture's columns, as the schemas in src/ give them. */
const roles = {
  device_id: 'device',
  pid: 'process',
  tid: 'thread',
  kernel_name: 'kernel_name',
  range_name: 'range_name',
  api_name: 'name',
  direction: 'name',
};

const roleOf = (name, unit) => {
  if (unit === 'timestamp_ns' && /start_ns$/u.test(name)) return 'start';
  if (unit === 'timestamp_ns' && /end_ns$/u.test(name)) return 'end';
  return roles[name] ?? (unit === 'text' || unit === 'id' ? 'label' : 'metric');
};

/** A column of report.json. */
export const column = (name, type, unit, description) => {
  const role = roleOf(name, unit);
  const key = ['kernel_name', 'range_name', 'name', 'device'].includes(role);
  return {
    name,
    type,
    unit,
    description,
    ...(/_(us|ms|s)$/u.test(name) ? { stored: name.replace(/_(us|ms|s)$/u, '_ns') } : {}),
    role,
    ...(key ? { key } : {}),
    ...(/^(total|self|gpu|wall|kernel)_.*(ns|ms)$/u.test(name) ? { sum: true } : {}),
  };
};
