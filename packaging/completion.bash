# Completion of modbus-sim for bash.
_modbus_sim() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local commands='catalogue check clone extcap fleet fuzz help import learn measure monitor ports reload schema test test-client test-server'
  local options='--config --json_file --modbus_server --modbus_device --http_host --http_port --log --log_file --state --misbehave
    --seconds --line --unit --function --hex --url --token --install --set --free-ports --restart --inconclusive --junit --html --json
    --list --checks --limit --seed --dut --observer-register --observer-url --observer-path --observer-command --output --scenario --from --force --serial --tcp --framing --units
    --baud --parity --stop-bits --ranges --watch --probe-functions --pause --timeout --map --broker --username --about --tester --remark --broadcast --defaults --device --find --idle
    --last --no-verify --preview --port --power-cycle --problems --rule --scratch --soak --thorough --verify --claims --claims-template --write --ca --topic --on --label --file --moves --except --replay --capture --all --help --version'
  case $previous in
    check | import | learn | reload | test | -o | --output | --scenario | --serial | --map | --claims | --claims-template | --write | --config | --json_file | --log_file | --junit | --html | --json | --ca | --file | --replay | --capture)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return
      ;;
    --state)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$word")
      return
      ;;
    help)
      mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
      return
      ;;
    catalogue | --misbehave)
      mapfile -t COMPREPLY < <(compgen -W "$(modbus-sim catalogue 2>/dev/null | sed 's/ .*//')" -- "$word")
      return
      ;;
    schema)
      mapfile -t COMPREPLY < <(compgen -W 'configuration scenario catalogue' -- "$word")
      return
      ;;
    --inconclusive)
      mapfile -t COMPREPLY < <(compgen -W 'skipped failure' -- "$word")
      return
      ;;
    --framing)
      mapfile -t COMPREPLY < <(compgen -W 'socket rtu ascii' -- "$word")
      return
      ;;
    --parity)
      mapfile -t COMPREPLY < <(compgen -W 'none even odd' -- "$word")
      return
      ;;
    --from)
      mapfile -t COMPREPLY < <(compgen -W 'csv telegraf home-assistant esphome modbus-exporter solarman modbuspal sunspec' -- "$word")
      return
      ;;
    --log)
      mapfile -t COMPREPLY < <(compgen -W 'critical error warning info debug' -- "$word")
      return
      ;;
    --modbus_server | --modbus_device | --http_host | --http_port | --seconds | --line | --unit | --function | --rule | --last | --url | --set | --token | --checks | --limit | --moves | \
      --seed | --dut | --observer-* | --tcp | --units | --baud | --stop-bits | --ranges | --watch | --probe-functions | --pause | --timeout)
      return
      ;;
  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  elif ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
  fi
}
complete -F _modbus_sim modbus-sim
